// max(0, min(1, alpha * x + beta)).
#include "native/ops/hard_sigmoid/hard_sigmoid_operation.h"

LATHE_KERNEL(hard_sigmoid_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::HardSigmoidOperation, lathe::OtherFloats>("hard_sigmoid_any_generic__portable",
                                                                             "hard_sigmoid");
