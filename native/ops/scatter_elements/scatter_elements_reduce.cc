// Reduces updates into the elements at their places.
#include "native/kernel/kernel_types.h"
#include "native/kernel/loops/scatter_elements.h"

LATHE_KERNEL = lathe::ScatterElementsReduction<lathe::KernelTypes<lathe::RareNumbers>>();
