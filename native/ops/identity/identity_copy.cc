// The same elements; nothing is moved where the output took over the input's memory.
#include "native/kernel/loops/whole_copy.h"

LATHE_KERNEL = {
    .prepare = lathe::PrepareWholeCopy,
    .plan = lathe::PlanWholeCopy,
    .run = lathe::RunWholeCopy,
};
