// The sum; integers wrap around.
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/core/vector_reduce.h"

LATHE_KERNEL(reduce_sum_f32_nested__portable) =
    lathe::VectorReduceKernel<lathe::VectorSumFold>("reduce_sum_f32_nested__portable", "reduce_sum");
