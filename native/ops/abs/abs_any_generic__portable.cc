// Absolute value; the smallest of signed integers stays what it is.
#include "native/ops/abs/abs_operation.h"

LATHE_KERNEL(abs_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::AbsOperation, lathe::OtherNumbers>("abs_any_generic__portable", "abs");
