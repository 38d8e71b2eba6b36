// The largest element; NaN wins.
#include "native/core/reduce.h"

namespace lathe {
namespace {

struct MaxOfIntegers : MaxFold<int32_t> {
  static int32_t Initial() { return INT32_MIN; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(reduce_max_s32_nested__portable) =
    lathe::ReduceKernel<lathe::MaxOfIntegers, int32_t, int32_t>("reduce_max_s32_nested__portable", "reduce_max");
