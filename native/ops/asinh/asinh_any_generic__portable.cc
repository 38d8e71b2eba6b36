// The inverse of the hyperbolic sine.
#include "native/ops/asinh/asinh_operation.h"

LATHE_KERNEL(asinh_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::AsinhOperation, lathe::OtherFloats>("asinh_any_generic__portable", "asinh");
