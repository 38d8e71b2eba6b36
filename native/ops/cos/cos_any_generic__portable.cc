// The cosine of an angle in radians.
#include "native/ops/cos/cos_operation.h"

LATHE_KERNEL(cos_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::CosOperation, lathe::OtherFloats>("cos_any_generic__portable", "cos");
