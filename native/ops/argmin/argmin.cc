// The place of the smallest element along the axis.
#include "native/kernel/kernel_types.h"
#include "native/kernel/loops/axis.h"

LATHE_KERNEL = lathe::AxisKernel<lathe::PlaceOperation<lathe::Extreme::kSmallest>,
                                 lathe::KernelTypes<lathe::OtherNumbers>, int64_t, lathe::AxisResult::kElement>();
