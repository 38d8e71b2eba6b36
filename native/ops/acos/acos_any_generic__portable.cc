// The arccosine; not a number outside -1..1.
#include "native/ops/acos/acos_operation.h"

LATHE_KERNEL(acos_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::AcosOperation, lathe::OtherFloats>("acos_any_generic__portable", "acos");
