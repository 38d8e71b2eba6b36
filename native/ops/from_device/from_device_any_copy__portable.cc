// A border of a device_region that the CPU runs: the same elements. Nothing is moved where the output took over the
// input's memory.
#include "native/core/whole_copy.h"

LATHE_KERNEL(from_device_any_copy__portable) = {"from_device_any_copy__portable",
                                                "from_device",
                                                0,
                                                0,
                                                0,
                                                lathe::PrepareWholeCopy,
                                                lathe::PlanWholeCopy,
                                                lathe::RunWholeCopy};
