// The place of the smallest element along the axis.
#include "native/core/axis.h"

LATHE_KERNEL(argmin_any_generic__portable) =
    lathe::AxisKernel<lathe::PlaceOperation<lathe::Extreme::kSmallest>, lathe::OtherNumbers, int64_t,
                      lathe::AxisResult::kElement>("argmin_any_generic__portable", "argmin");
