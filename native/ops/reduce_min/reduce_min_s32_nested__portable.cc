// The smallest element; NaN wins.
#include "native/core/reduce.h"

namespace lathe {
namespace {

struct MinOfIntegers : MinFold<int32_t> {
  static int32_t Initial() { return INT32_MAX; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(reduce_min_s32_nested__portable) =
    lathe::ReduceKernel<lathe::MinOfIntegers, int32_t, int32_t>("reduce_min_s32_nested__portable", "reduce_min");
