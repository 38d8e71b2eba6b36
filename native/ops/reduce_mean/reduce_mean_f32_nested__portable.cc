// The mean.
#include "native/core/reduce.h"

namespace lathe {
namespace {

struct MeanFold : SumFold<float, double> {
  static constexpr bool kEmptyAllowed = false;
  static float Result(double sum, int64_t count) { return static_cast<float>(sum / static_cast<double>(count)); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(reduce_mean_f32_nested__portable) =
    lathe::ReduceKernel<lathe::MeanFold, float, double>("reduce_mean_f32_nested__portable", "reduce_mean");
