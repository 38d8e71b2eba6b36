// The square root; NaN below 0.
#include "native/ops/sqrt/sqrt_operation.h"

LATHE_KERNEL(sqrt_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::SqrtOperation, lathe::OtherFloats>("sqrt_any_generic__portable", "sqrt");
