// The sum; integers wrap around.
#include "native/core/reduce.h"

LATHE_KERNEL(reduce_sum_s32_nested__portable) =
    lathe::ReduceKernel<lathe::SumFold<int32_t, uint32_t>, int32_t, uint32_t>("reduce_sum_s32_nested__portable",
                                                                              "reduce_sum");
