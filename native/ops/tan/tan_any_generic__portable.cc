// The tangent of an angle in radians.
#include "native/ops/tan/tan_operation.h"

LATHE_KERNEL(tan_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::TanOperation, lathe::OtherFloats>("tan_any_generic__portable", "tan");
