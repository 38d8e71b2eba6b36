#include "native/opencl/movement.h"
#include "native/opencl/read.h"

namespace lathe {
namespace opencl {

LATHE_OPENCL_PLAN(depth_to_space)(Node& node) {
  LATHE_TRY(CheckPixels(node, 1, 1));
  DeviceTensor& x = node.input(0);
  DeviceTensor& y = node.output(0);
  int32_t side = 0, by_channel = 0;
  LATHE_TRY(ReadInt(node, "block", 1, 1 << 12, &side));
  LATHE_TRY(ReadChoice(node, "mode", "DCR CRD", &by_channel));
  const View& in = x.view;
  const View& out = y.view;
  const bool fits = x.shape.rank == 4 && y.shape.rank == 4 && in.n == out.n && out.h == int64_t{in.h} * side &&
                    out.w == int64_t{in.w} * side && in.c == int64_t{out.c} * side * side;
  if (!fits) return node.Fail(Code::kBadModel, "its output does not have the shape of its input's blocks");
  Launch launch(node, "move");
  const bool by_pixel = side == 1 || by_channel == 0;
  BeginMove(launch, x, y, by_pixel ? Together::kInRuns : Together::kNot);
  if (by_channel == 0) {
    launch.Int(side).Int(1).Int(side * out.c).Int(out.c);
  } else {
    launch.Int(side).Int(side * side).Int(side).Int(1);
  }
  return EndMove(launch, y);
}

}  // namespace opencl
}  // namespace lathe
