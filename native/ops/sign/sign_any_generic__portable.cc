// -1, 0 or 1; NaN stays NaN.
#include "native/ops/sign/sign_operation.h"

LATHE_KERNEL(sign_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::SignOperation, lathe::OtherNumbers>("sign_any_generic__portable", "sign");
