// log(1 + e^x).
#include "native/ops/softplus/softplus_operation.h"

LATHE_KERNEL(softplus_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::SoftplusOperation, lathe::OtherFloats>("softplus_any_generic__portable", "softplus");
