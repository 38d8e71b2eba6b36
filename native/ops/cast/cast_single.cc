// Halves to floats.
#include "native/ops/cast/cast_halves.h"

LATHE_KERNEL = lathe::HalfCastKernel<lathe::Half, float>();
