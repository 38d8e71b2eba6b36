#include "native/opencl/convolution.h"
#include "native/opencl/read.h"

namespace lathe {
namespace opencl {
namespace {

// Pixels (tap, block) of a filter [height, width, channels].
void Fill(const float* source, const Shape& shape, int32_t width, int32_t height, const int64_t (&)[4], float* pixels) {
  for (int64_t block = 0; block < height; ++block) {
    for (int64_t tap = 0; tap < width; ++tap, pixels += 4) {
      for (int64_t lane = 0; lane < 4 && 4 * block + lane < shape[2]; ++lane)
        pixels[lane] = source[tap * shape[2] + 4 * block + lane];
    }
  }
}

}  // namespace

LATHE_OPENCL_PLAN(dwconv2d)(Node& node) {
  Convolution conv;
  LATHE_TRY(ReadWindows(node, 3, &conv));
  LATHE_TRY(CheckWindows(node, conv));
  int32_t multiplier = 0;
  LATHE_TRY(ReadInt(node, "multiplier", 1, kMostExtent, &multiplier));
  const View& in = conv.in;
  const View& out = conv.out;
  if (int64_t{in.c} * multiplier != out.c || node.input(1).shape[2] != out.c)
    return node.Fail(Code::kBadModel, "its filter does not fit its channels");
  const int64_t taps = int64_t{conv.kernel[0]} * conv.kernel[1];
  if (taps > INT32_MAX) return node.Fail(Code::kUnsupported, "its filter is too large");
  DeviceTensor* filter;
  LATHE_TRY(node.Packed(1, static_cast<int32_t>(taps), out.blocks, Fill, {0, 0, 0, 0}, &filter));
  Launch launch(node, "dwconv2d");
  launch.Define("SLIDE", conv.kernel[1] > 1 && conv.strides[1] == 1 && conv.dilations[1] == 1);
  launch.Define("GATHER", multiplier > 1).In(node.input(0)).In(*filter).Out(node.output(0));
  AddInputs(node, &launch);
  AddWindows(conv, &launch);
  launch.Int(multiplier).Activation();
  return launch.Enqueue((int64_t{out.w} + 3) / 4, out.blocks, out.height());
}

}  // namespace opencl
}  // namespace lathe
