// The hyperbolic sine.
#include "native/ops/sinh/sinh_operation.h"

LATHE_KERNEL(sinh_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::SinhOperation, lathe::OtherFloats>("sinh_any_generic__portable", "sinh");
