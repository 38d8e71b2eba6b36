// The inverse of the hyperbolic cosine; not a number below 1.
#include "native/ops/acosh/acosh_operation.h"

LATHE_KERNEL(acosh_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::AcoshOperation, lathe::OtherFloats>("acosh_any_generic__portable", "acosh");
