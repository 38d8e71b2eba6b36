// Halves to floats.
#include "native/ops/cast/cast_halves.h"

LATHE_KERNEL(cast_f16_single__neon) = lathe::HalfCastKernel<lathe::Half, float>("cast_f16_single__neon", "cast");
