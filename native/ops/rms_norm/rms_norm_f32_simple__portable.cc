// x / sqrt(mean of x^2 + epsilon) * scale over rows.
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/core/row_norm.h"

LATHE_KERNEL(rms_norm_f32_simple__portable) = lathe::RowNormKernel<false, 1>("rms_norm_f32_simple__portable",
                                                                             "rms_norm");
