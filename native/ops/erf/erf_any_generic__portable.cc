// The error function.
#include "native/ops/erf/erf_operation.h"

LATHE_KERNEL(erf_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::ErfOperation, lathe::OtherFloats>("erf_any_generic__portable", "erf");
