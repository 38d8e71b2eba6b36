#include "native/opencl/movement.h"
#include "native/opencl/read.h"

namespace lathe {
namespace opencl {

LATHE_OPENCL_PLAN(broadcast_to)(Node& node) {
  LATHE_TRY(CheckPixels(node, 1, 1));
  DeviceTensor& x = node.input(0);
  DeviceTensor& y = node.output(0);
  const int missing = y.shape.rank - x.shape.rank;
  if (missing < 0) return node.Fail(Code::kBadModel, "its output has fewer axes than its input");
  Walk walks[kMaxRank];
  for (int i = 0; i < y.shape.rank; ++i) {
    const int axis = i - missing;
    walks[i] = {axis >= 0 && x.shape.dims[axis] != 1 ? axis : -1, 1};
  }
  const int32_t starts[kMaxRank] = {};
  return EnqueueWalk(node, x, y, walks, starts);
}

}  // namespace opencl
}  // namespace lathe
