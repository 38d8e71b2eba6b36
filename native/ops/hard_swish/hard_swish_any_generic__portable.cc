// x * max(0, min(1, x / 6 + 0.5)).
#include "native/ops/hard_swish/hard_swish_operation.h"

LATHE_KERNEL(hard_swish_any_generic__portable) = lathe::TypedUnaryKernel<lathe::HardSwishOperation, lathe::OtherFloats>(
    "hard_swish_any_generic__portable", "hard_swish");
