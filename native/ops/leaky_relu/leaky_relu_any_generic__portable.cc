// x, or alpha * x where x is negative.
#include "native/ops/leaky_relu/leaky_relu_operation.h"

LATHE_KERNEL(leaky_relu_any_generic__portable) = lathe::TypedUnaryKernel<lathe::LeakyReluOperation, lathe::OtherFloats>(
    "leaky_relu_any_generic__portable", "leaky_relu");
