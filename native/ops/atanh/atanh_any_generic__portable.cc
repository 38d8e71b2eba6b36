// The inverse of the hyperbolic tangent; not a number outside -1..1.
#include "native/ops/atanh/atanh_operation.h"

LATHE_KERNEL(atanh_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::AtanhOperation, lathe::OtherFloats>("atanh_any_generic__portable", "atanh");
