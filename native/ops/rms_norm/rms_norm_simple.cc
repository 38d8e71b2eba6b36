// x / sqrt(mean of x^2 + epsilon) * scale over rows.
#include "native/kernel/loops/row_norm.h"
#include "native/kernel/simd/simd.h"

LATHE_KERNEL = lathe::RowNormKernel<false, 1>();
