// The sum; integers wrap around.
#include "native/kernel/loops/vector_reduce.h"
#include "native/kernel/simd/simd.h"

LATHE_KERNEL = lathe::VectorReduceKernel<lathe::VectorSumFold>();
