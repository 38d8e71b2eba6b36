// gamma * x, or gamma * alpha * (e^x - 1) where x is not positive.
#include "native/ops/selu/selu_operation.h"

LATHE_KERNEL(selu_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::SeluOperation, lathe::OtherFloats>("selu_any_generic__portable", "selu");
