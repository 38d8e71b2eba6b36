// The shape of filters, whichever way they are stored.
#ifndef LATHE_KERNEL_GEMM_PACKING_H_
#define LATHE_KERNEL_GEMM_PACKING_H_

#include "native/runtime/kernel.h"

namespace lathe {

struct FilterShape {
  int64_t outputs;  // of all groups
  int64_t height;
  int64_t width;
  int64_t depth;  // channels that an output sees
  int64_t panel;  // outputs of a panel, in what came packed; 0: plain
};

// Reads input 1: plain filters [outputs, height, width, depth] where `rank` is 4, weights [outputs, depth] where it is
// 2, or either of them as [groups, panels, height, width, depth, outputs of a panel]. The number of outputs is then the
// last dimension of output 0, which needs a rank. No dimension is 0 or larger than `most`.
Code ReadFilterShape(const PrepareContext& context, int rank, int64_t groups, int64_t most, FilterShape* shape);

}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_PACKING_H_
