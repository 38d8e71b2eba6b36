// The nearest whole number; of two equally near ones the even one.
#include "native/ops/round/round_operation.h"

LATHE_KERNEL(round_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::RoundOperation, lathe::OtherFloats>("round_any_generic__portable", "round");
