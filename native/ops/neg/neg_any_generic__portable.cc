// Negation; integers wrap around.
#include "native/ops/neg/neg_operation.h"

LATHE_KERNEL(neg_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::NegOperation, lathe::OtherNumbers>("neg_any_generic__portable", "neg");
