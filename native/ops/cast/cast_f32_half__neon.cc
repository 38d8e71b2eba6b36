// Floats to halves.
#include "native/ops/cast/cast_halves.h"

LATHE_KERNEL(cast_f32_half__neon) = lathe::HalfCastKernel<float, lathe::Half>("cast_f32_half__neon", "cast");
