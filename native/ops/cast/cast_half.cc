// Floats to halves.
#include "native/ops/cast/cast_halves.h"

LATHE_KERNEL = lathe::HalfCastKernel<float, lathe::Half>();
