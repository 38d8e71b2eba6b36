#include "native/ops/reduce_mean/reduce_mean_bytes.h"

LATHE_KERNEL(reduce_mean_s8_nested__avx2) = lathe::ByteMeansKernel("reduce_mean_s8_nested__avx2", "reduce_mean");
