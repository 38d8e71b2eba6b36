#include "native/opencl/movement.h"
#include "native/opencl/read.h"

namespace lathe {
namespace opencl {

LATHE_OPENCL_PLAN(transpose)(Node& node) {
  LATHE_TRY(CheckPixels(node, 1, 1));
  DeviceTensor& x = node.input(0);
  DeviceTensor& y = node.output(0);
  const int rank = x.shape.rank;
  if (y.shape.rank != rank) return node.Fail(Code::kBadModel, "its output has another rank than its input");
  int32_t perm[kMaxRank];
  LATHE_TRY(ReadInts(node, "perm", 0, rank - 1, rank, perm));
  Walk walks[kMaxRank];
  for (int i = 0; i < rank; ++i) walks[i] = {perm[i], 1};
  const int32_t starts[kMaxRank] = {};
  return EnqueueWalk(node, x, y, walks, starts);
}

}  // namespace opencl
}  // namespace lathe
