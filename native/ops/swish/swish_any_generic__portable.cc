// x / (1 + e^-x).
#include "native/ops/swish/swish_operation.h"

LATHE_KERNEL(swish_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::SwishOperation, lathe::OtherFloats>("swish_any_generic__portable", "swish");
