// The place of the largest element along the axis.
#include "native/kernel/kernel_types.h"
#include "native/kernel/loops/axis.h"

LATHE_KERNEL = lathe::AxisKernel<lathe::PlaceOperation<lathe::Extreme::kLargest>,
                                 lathe::KernelTypes<lathe::OtherNumbers>, int64_t, lathe::AxisResult::kElement>();
