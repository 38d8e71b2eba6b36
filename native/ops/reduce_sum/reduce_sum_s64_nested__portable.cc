// The sum; integers wrap around.
#include "native/core/reduce.h"

LATHE_KERNEL(reduce_sum_s64_nested__portable) =
    lathe::ReduceKernel<lathe::SumFold<int64_t, uint64_t>, int64_t, uint64_t>("reduce_sum_s64_nested__portable",
                                                                              "reduce_sum");
