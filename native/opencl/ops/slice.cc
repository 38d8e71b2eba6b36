#include "native/opencl/movement.h"
#include "native/opencl/read.h"

namespace lathe {
namespace opencl {

LATHE_OPENCL_PLAN(slice)(Node& node) {
  LATHE_TRY(CheckPixels(node, 1, 1));
  DeviceTensor& x = node.input(0);
  DeviceTensor& y = node.output(0);
  const int rank = x.shape.rank;
  if (y.shape.rank != rank) return node.Fail(Code::kBadModel, "its output has another rank than its input");
  int32_t starts[kMaxRank], steps[kMaxRank];
  LATHE_TRY(ReadInts(node, "starts", 0, INT32_MAX, rank, starts));
  LATHE_TRY(ReadInts(node, "steps", -INT32_MAX, INT32_MAX, rank, steps));
  Walk walks[kMaxRank];
  for (int axis = 0; axis < rank; ++axis) walks[axis] = {axis, steps[axis]};
  return EnqueueWalk(node, x, y, walks, starts);
}

}  // namespace opencl
}  // namespace lathe
