// What the units of element-wise operators share.
#ifndef LATHE_OPENCL_ELEMENTWISE_H_
#define LATHE_OPENCL_ELEMENTWISE_H_

#include "native/opencl/node.h"
#include "native/opencl/unit.h"

namespace lathe {
namespace opencl {

// The kernel of unary.cl, with the parameters of its function.
Code EnqueueUnary(Node& node, float a = 0.0f, float b = 0.0f);

}  // namespace opencl
}  // namespace lathe

#endif  // LATHE_OPENCL_ELEMENTWISE_H_
