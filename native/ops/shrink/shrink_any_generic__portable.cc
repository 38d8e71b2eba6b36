// Numbers within lambd of 0 become 0, others come nearer to 0 by bias; integers are then cut towards zero.
#include "native/ops/shrink/shrink_operation.h"

LATHE_KERNEL(shrink_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::ShrinkOperation, lathe::OtherNumbers>("shrink_any_generic__portable", "shrink");
