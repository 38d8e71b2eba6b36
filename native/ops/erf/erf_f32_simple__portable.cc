// The error function.
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/ops/erf/erf_f32_simple.h"

LATHE_KERNEL(erf_f32_simple__portable) = lathe::VectorUnaryKernel<lathe::ErfOperation, true>("erf_f32_simple__portable",
                                                                                             "erf");
