// The smallest element; NaN wins.
#include "native/core/reduce.h"

namespace lathe {
namespace {

struct MinOfIntegers : MinFold<int64_t> {
  static int64_t Initial() { return INT64_MAX; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(reduce_min_s64_nested__portable) =
    lathe::ReduceKernel<lathe::MinOfIntegers, int64_t, int64_t>("reduce_min_s64_nested__portable", "reduce_min");
