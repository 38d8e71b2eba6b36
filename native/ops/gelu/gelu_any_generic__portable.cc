// x times the normal distribution of x, by erf or by its approximation with tanh.
#include "native/ops/gelu/gelu_operation.h"

LATHE_KERNEL(gelu_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::GeluOperation, lathe::OtherFloats>("gelu_any_generic__portable", "gelu");
