#include "native/opencl/product.h"

namespace lathe {
namespace opencl {

LATHE_OPENCL_PLAN(conv2d_1x1)(Node& node) {
  Convolution conv;
  LATHE_TRY(ReadConvolution(node, &conv));
  LATHE_TRY(CheckWindows(node, conv));
  const bool points = conv.kernel[0] * int64_t{conv.kernel[1]} == 1 && conv.group_outputs == conv.out.c;
  const int32_t (&pads)[4] = conv.pads;
  if (!points || (pads[0] | pads[1] | pads[2] | pads[3]) != 0)
    return node.Fail(Code::kUnsupported, "is more than a product of each pixel");
  return EnqueueProduct(node, FillFilter, conv.strides, true);
}

}  // namespace opencl
}  // namespace lathe
