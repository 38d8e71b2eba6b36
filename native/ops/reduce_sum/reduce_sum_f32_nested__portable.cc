// The sum; integers wrap around.
#include "native/core/reduce.h"

LATHE_KERNEL(reduce_sum_f32_nested__portable) =
    lathe::ReduceKernel<lathe::SumFold<float, double>, float, double>("reduce_sum_f32_nested__portable", "reduce_sum");
