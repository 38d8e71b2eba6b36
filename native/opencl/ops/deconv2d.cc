#include "native/opencl/convolution.h"
#include "native/opencl/read.h"

namespace lathe {
namespace opencl {

LATHE_OPENCL_PLAN(deconv2d)(Node& node) {
  Convolution conv;
  LATHE_TRY(ReadConvolution(node, &conv));
  int32_t more[2];
  LATHE_TRY(ReadInts(node, "output_padding", 0, kMostExtent, 2, more));
  const int64_t in[] = {conv.in.h, conv.in.w}, out[] = {conv.out.h, conv.out.w};
  for (int axis = 0; axis < 2; ++axis) {
    const int64_t extent = int64_t{conv.kernel[axis] - 1} * conv.dilations[axis] + 1;
    const int64_t whole = (in[axis] - 1) * conv.strides[axis] + extent + more[axis];
    if (whole - conv.pads[axis] - conv.pads[axis + 2] != out[axis])
      return node.Fail(Code::kBadModel, "its output does not have the size of its windows");
  }
  // Each of the `stride` kinds of columns has tiles of its own.
  const int64_t stride = conv.strides[1], columns = (out[1] + stride - 1) / stride;
  return EnqueueConvolution(node, conv, "deconv2d", false, (columns + 3) / 4 * (stride < out[1] ? stride : out[1]));
}

}  // namespace opencl
}  // namespace lathe
