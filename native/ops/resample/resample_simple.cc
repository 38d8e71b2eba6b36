// Weighted sums of a few floats along one axis.
#include "native/ops/resample/resample_lines.h"

LATHE_KERNEL = lathe::ResampleKernel<float>();
