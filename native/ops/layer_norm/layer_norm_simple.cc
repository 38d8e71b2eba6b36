// (x - mean) / sqrt(variance + epsilon) * scale + bias over rows.
#include "native/kernel/loops/row_norm.h"
#include "native/kernel/simd/simd.h"

LATHE_KERNEL = lathe::RowNormKernel<true, 2>();
