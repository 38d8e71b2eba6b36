// The hyperbolic cosine.
#include "native/ops/cosh/cosh_operation.h"

LATHE_KERNEL(cosh_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::CoshOperation, lathe::OtherFloats>("cosh_any_generic__portable", "cosh");
