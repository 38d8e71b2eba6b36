// The arctangent.
#include "native/ops/atan/atan_operation.h"

LATHE_KERNEL(atan_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::AtanOperation, lathe::OtherFloats>("atan_any_generic__portable", "atan");
