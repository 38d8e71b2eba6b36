// The largest whole number that is not above x.
#include "native/ops/floor/floor_operation.h"

LATHE_KERNEL(floor_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::FloorOperation, lathe::OtherFloats>("floor_any_generic__portable", "floor");
