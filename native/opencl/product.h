// Pixels times a constant matrix: what convolutions of single pixels, fully connected layers and matmul share.
#ifndef LATHE_OPENCL_PRODUCT_H_
#define LATHE_OPENCL_PRODUCT_H_

#include "native/opencl/convolution.h"

namespace lathe {
namespace opencl {

// The kernels of product.cl and row_product.cl: every pixel of input 0, or every stride-th, times input 1, which `fill`
// packs into pixels (input, block of outputs).
Code EnqueueProduct(Node& node, FillPixels fill, const int32_t (&strides)[2], bool activated);

}  // namespace opencl
}  // namespace lathe

#endif  // LATHE_OPENCL_PRODUCT_H_
