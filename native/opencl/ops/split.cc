#include "native/opencl/movement.h"
#include "native/opencl/read.h"

namespace lathe {
namespace opencl {

LATHE_OPENCL_PLAN(split)(Node& node) {
  LATHE_TRY(CheckPixels(node, 1, node.output_count()));
  DeviceTensor& x = node.input(0);
  const int rank = x.shape.rank;
  int32_t axis = 0;
  LATHE_TRY(ReadInt(node, "axis", 0, rank - 1, &axis));
  Walk walks[kMaxRank];
  for (int i = 0; i < rank; ++i) walks[i] = {i, 1};
  int32_t starts[kMaxRank] = {};
  for (int i = 0; i < node.output_count(); ++i) {
    DeviceTensor& y = node.output(i);
    if (y.shape.rank != rank) return node.Fail(Code::kBadModel, "an output has another rank than its input");
    LATHE_TRY(EnqueueWalk(node, x, y, walks, starts));
    starts[axis] += static_cast<int32_t>(y.shape[axis]);
  }
  return Code::kOk;
}

}  // namespace opencl
}  // namespace lathe
