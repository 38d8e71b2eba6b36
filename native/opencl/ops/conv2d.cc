#include "native/opencl/convolution.h"

namespace lathe {
namespace opencl {
namespace {

Code Plan(Node& node) {
  Convolution conv;
  LATHE_TRY(ReadConvolution(node, &conv));
  LATHE_TRY(CheckWindows(node, conv));
  const bool slides = conv.kernel[1] > 1 && conv.strides[1] == 1 && conv.dilations[1] == 1;
  return EnqueueConvolution(node, conv, "conv2d", slides, (int64_t{conv.out.w} + 3) / 4);
}

}  // namespace
}  // namespace opencl
}  // namespace lathe

LATHE_OPENCL_UNIT(conv2d) = {"conv2d", "conv2d", lathe::opencl::Plan};
