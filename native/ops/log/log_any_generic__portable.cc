// The natural logarithm; NaN below 0.
#include "native/ops/log/log_operation.h"

LATHE_KERNEL(log_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::LogOperation, lathe::OtherFloats>("log_any_generic__portable", "log");
