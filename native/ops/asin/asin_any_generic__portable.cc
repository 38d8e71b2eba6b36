// The arcsine; not a number outside -1..1.
#include "native/ops/asin/asin_operation.h"

LATHE_KERNEL(asin_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::AsinOperation, lathe::OtherFloats>("asin_any_generic__portable", "asin");
