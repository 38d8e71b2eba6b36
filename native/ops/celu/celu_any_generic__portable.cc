// x, or alpha * (e^(x / alpha) - 1) where x is negative.
#include "native/ops/celu/celu_operation.h"

LATHE_KERNEL(celu_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::CeluOperation, lathe::OtherFloats>("celu_any_generic__portable", "celu");
