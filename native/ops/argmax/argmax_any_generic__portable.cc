// The place of the largest element along the axis.
#include "native/core/axis.h"

LATHE_KERNEL(argmax_any_generic__portable) =
    lathe::AxisKernel<lathe::PlaceOperation<lathe::Extreme::kLargest>, lathe::OtherNumbers, int64_t,
                      lathe::AxisResult::kElement>("argmax_any_generic__portable", "argmax");
