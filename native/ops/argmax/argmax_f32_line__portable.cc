// The place of the largest element along the axis.
#include "native/core/axis.h"

LATHE_KERNEL(argmax_f32_line__portable) =
    lathe::AxisKernel<lathe::PlaceOperation<lathe::Extreme::kLargest>, lathe::Types<float>, int64_t,
                      lathe::AxisResult::kElement>("argmax_f32_line__portable", "argmax");
