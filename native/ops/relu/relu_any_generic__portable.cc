// max(x, 0); NaN stays NaN.
#include "native/ops/relu/relu_operation.h"

LATHE_KERNEL(relu_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::ReluOperation, lathe::OtherNumbers>("relu_any_generic__portable", "relu");
