// The mean.
#include "native/kernel/loops/vector_reduce.h"
#include "native/kernel/simd/simd.h"

namespace lathe {
namespace {

struct MeanFold : VectorSumFold {
  static constexpr bool kEmptyAllowed = false;
  static float Result(double sum, int64_t count) { return static_cast<float>(sum / static_cast<double>(count)); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::VectorReduceKernel<lathe::MeanFold>();
