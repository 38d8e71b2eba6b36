// The smallest whole number that is not below x.
#include "native/ops/ceil/ceil_operation.h"

LATHE_KERNEL(ceil_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::CeilOperation, lathe::OtherFloats>("ceil_any_generic__portable", "ceil");
