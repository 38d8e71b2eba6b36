// The sine of an angle in radians.
#include "native/ops/sin/sin_operation.h"

LATHE_KERNEL(sin_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::SinOperation, lathe::OtherFloats>("sin_any_generic__portable", "sin");
