// The largest element; NaN wins.
#include "native/core/math.h"
#include "native/core/reduce.h"

namespace lathe {
namespace {

struct MaxOfFloats : MaxFold<float> {
  static float Initial() { return -HUGE_VALF; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(reduce_max_f32_nested__portable) =
    lathe::ReduceKernel<lathe::MaxOfFloats, float, float>("reduce_max_f32_nested__portable", "reduce_max");
