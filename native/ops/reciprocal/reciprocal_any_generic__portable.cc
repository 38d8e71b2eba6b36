// 1 / x.
#include "native/ops/reciprocal/reciprocal_operation.h"

LATHE_KERNEL(reciprocal_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::ReciprocalOperation, lathe::OtherFloats>("reciprocal_any_generic__portable",
                                                                            "reciprocal");
