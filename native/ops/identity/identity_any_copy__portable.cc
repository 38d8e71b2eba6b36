// The same elements; nothing is moved where the output took over the input's memory.
#include "native/core/whole_copy.h"

LATHE_KERNEL(identity_any_copy__portable) = {
    "identity_any_copy__portable", "identity",         0, 0, 0, lathe::PrepareWholeCopy,
    lathe::PlanWholeCopy,          lathe::RunWholeCopy};
