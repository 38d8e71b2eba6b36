#include "native/opencl/read.h"
#include "native/opencl/unit.h"

namespace lathe {
namespace opencl {
namespace {

enum Coordinates { kHalfPixel, kPytorchHalfPixel, kAsymmetric, kAlignCorners };

void AddAxis(Launch& launch, int32_t coordinates, float scale, int32_t old_size, int32_t new_size) {
  const bool single = new_size == 1 && (coordinates == kPytorchHalfPixel || coordinates == kAlignCorners);
  if (single) {
    launch.Float(0.0f).Float(0.0f).Float(1.0f);
  } else if (coordinates == kAlignCorners) {
    launch.Float(0.0f).Float(static_cast<float>(old_size - 1)).Float(static_cast<float>(new_size - 1));
  } else {
    const float of_sizes = static_cast<float>(new_size) / static_cast<float>(old_size);
    launch.Float(coordinates == kAsymmetric ? 0.0f : 0.5f).Float(1.0f).Float(scale > 0.0f ? scale : of_sizes);
  }
}

}  // namespace

LATHE_OPENCL_PLAN(resize2d)(Node& node) {
  LATHE_TRY(CheckPixels(node, 1, 1));
  DeviceTensor& x = node.input(0);
  DeviceTensor& y = node.output(0);
  int32_t linear = 0, coordinates = 0, rounding = 0;
  LATHE_TRY(ReadChoice(node, "mode", "nearest linear", &linear));
  LATHE_TRY(ReadChoice(node, "coordinates", "half_pixel pytorch_half_pixel asymmetric align_corners", &coordinates));
  LATHE_TRY(ReadChoice(node, "rounding", "round_prefer_floor round_prefer_ceil floor ceil", &rounding));
  Span<const float> scales;
  LATHE_TRY(node.Floats("scales", &scales));
  const bool fits = x.shape.rank == 4 && y.shape.rank == 4 && x.view.n == y.view.n && x.view.c == y.view.c &&
                    scales.size() == 2 && scales[0] >= 0.0f && scales[1] >= 0.0f;
  if (!fits) return node.Fail(Code::kBadModel, "its scales or its shapes do not fit");
  Launch launch(node, "resize");
  if (linear == 0) launch.Define("NEAREST", rounding + 1);
  launch.In(x).Out(y).Int(x.view.h).Int(x.view.w).Int(y.view.h).Int(y.view.c);
  AddAxis(launch, coordinates, scales[0], x.view.h, y.view.h);
  AddAxis(launch, coordinates, scales[1], x.view.w, y.view.w);
  return launch.Enqueue(y.view.w, y.view.height(), y.view.blocks);
}

}  // namespace opencl
}  // namespace lathe
