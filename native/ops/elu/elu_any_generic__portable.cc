// x, or alpha * (e^x - 1) where x is negative.
#include "native/ops/elu/elu_operation.h"

LATHE_KERNEL(elu_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::EluOperation, lathe::OtherFloats>("elu_any_generic__portable", "elu");
