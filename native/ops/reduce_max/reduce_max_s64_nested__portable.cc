// The largest element; NaN wins.
#include "native/core/reduce.h"

namespace lathe {
namespace {

struct MaxOfIntegers : MaxFold<int64_t> {
  static int64_t Initial() { return INT64_MIN; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(reduce_max_s64_nested__portable) =
    lathe::ReduceKernel<lathe::MaxOfIntegers, int64_t, int64_t>("reduce_max_s64_nested__portable", "reduce_max");
