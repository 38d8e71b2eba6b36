// The hyperbolic tangent.
#include "native/ops/tanh/tanh_operation.h"

LATHE_KERNEL(tanh_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::TanhOperation, lathe::OtherFloats>("tanh_any_generic__portable", "tanh");
