// 1 / (1 + e^-x).
#include "native/ops/sigmoid/sigmoid_operation.h"

LATHE_KERNEL(sigmoid_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::SigmoidOperation, lathe::OtherFloats>("sigmoid_any_generic__portable", "sigmoid");
