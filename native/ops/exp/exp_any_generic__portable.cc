// e^x.
#include "native/ops/exp/exp_operation.h"

LATHE_KERNEL(exp_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::ExpOperation, lathe::OtherFloats>("exp_any_generic__portable", "exp");
