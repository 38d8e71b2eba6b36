#include "native/opencl/convolution.h"

namespace lathe {
namespace opencl {

LATHE_OPENCL_PLAN(conv2d)(Node& node) {
  Convolution conv;
  LATHE_TRY(ReadConvolution(node, &conv));
  LATHE_TRY(CheckWindows(node, conv));
  const bool slides = conv.kernel[1] > 1 && conv.strides[1] == 1 && conv.dilations[1] == 1;
  return EnqueueConvolution(node, conv, "conv2d", slides, (int64_t{conv.out.w} + 3) / 4);
}

}  // namespace opencl
}  // namespace lathe
