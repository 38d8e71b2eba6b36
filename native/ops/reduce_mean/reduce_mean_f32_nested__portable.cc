// The mean.
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/core/vector_reduce.h"

namespace lathe {
namespace {

struct MeanFold : VectorSumFold {
  static constexpr bool kEmptyAllowed = false;
  static float Result(double sum, int64_t count) { return static_cast<float>(sum / static_cast<double>(count)); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(reduce_mean_f32_nested__portable) =
    lathe::VectorReduceKernel<lathe::MeanFold>("reduce_mean_f32_nested__portable", "reduce_mean");
