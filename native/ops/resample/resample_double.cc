// Weighted sums of a few doubles along one axis.
#include "native/ops/resample/resample_lines.h"

LATHE_KERNEL = lathe::ResampleKernel<double>();
