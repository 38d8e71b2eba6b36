// A border of a device_region that the CPU runs: the same elements. Nothing is moved where the output took over the
// input's memory.
#include "native/core/whole_copy.h"

LATHE_KERNEL(to_device_any_copy__portable) = {
    "to_device_any_copy__portable", "to_device",        0, 0, 0, lathe::PrepareWholeCopy,
    lathe::PlanWholeCopy,           lathe::RunWholeCopy};
