// The place of the smallest element along the axis.
#include "native/core/axis.h"

LATHE_KERNEL(argmin_f32_line__portable) =
    lathe::AxisKernel<lathe::PlaceOperation<lathe::Extreme::kSmallest>, lathe::Types<float>, int64_t,
                      lathe::AxisResult::kElement>("argmin_f32_line__portable", "argmin");
