// A border of a device_region that the CPU runs: the same elements. Nothing is moved where the output took over the
// input's memory.
#include "native/kernel/loops/whole_copy.h"

LATHE_KERNEL = {
    .prepare = lathe::PrepareWholeCopy,
    .plan = lathe::PlanWholeCopy,
    .run = lathe::RunWholeCopy,
};
