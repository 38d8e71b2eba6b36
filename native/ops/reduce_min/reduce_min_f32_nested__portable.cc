// The smallest element; NaN wins.
#include "native/core/math.h"
#include "native/core/reduce.h"

namespace lathe {
namespace {

struct MinOfFloats : MinFold<float> {
  static float Initial() { return HUGE_VALF; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(reduce_min_f32_nested__portable) =
    lathe::ReduceKernel<lathe::MinOfFloats, float, float>("reduce_min_f32_nested__portable", "reduce_min");
