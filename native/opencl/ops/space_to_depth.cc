#include "native/opencl/movement.h"
#include "native/opencl/read.h"

namespace lathe {
namespace opencl {

LATHE_OPENCL_PLAN(space_to_depth)(Node& node) {
  LATHE_TRY(CheckPixels(node, 1, 1));
  DeviceTensor& x = node.input(0);
  DeviceTensor& y = node.output(0);
  int32_t side = 0, by_channel = 0;
  LATHE_TRY(ReadInt(node, "block", 1, 1 << 12, &side));
  LATHE_TRY(ReadChoice(node, "mode", "DCR CRD", &by_channel));
  const View& in = x.view;
  const View& out = y.view;
  const bool fits = x.shape.rank == 4 && y.shape.rank == 4 && in.n == out.n && in.h == int64_t{out.h} * side &&
                    in.w == int64_t{out.w} * side && out.c == int64_t{in.c} * side * side;
  if (!fits) return node.Fail(Code::kBadModel, "its input does not have the shape of its output's blocks");
  Launch launch(node, "move");
  const bool whole = side == 1 || (by_channel == 0 && in.c % 4 == 0);
  BeginMove(launch, x, y, whole ? Together::kInPixels : Together::kNot);
  launch.Int(side).Int(by_channel == 0 ? in.c : side * side).Int(by_channel);
  return EndMove(launch, y);
}

}  // namespace opencl
}  // namespace lathe
