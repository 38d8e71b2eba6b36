// x / (1 + |x|).
#include "native/ops/softsign/softsign_operation.h"

LATHE_KERNEL(softsign_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::SoftsignOperation, lathe::OtherFloats>("softsign_any_generic__portable", "softsign");
