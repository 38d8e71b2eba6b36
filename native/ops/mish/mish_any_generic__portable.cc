// x * tanh(softplus(x)).
#include "native/ops/mish/mish_operation.h"

LATHE_KERNEL(mish_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::MishOperation, lathe::OtherFloats>("mish_any_generic__portable", "mish");
