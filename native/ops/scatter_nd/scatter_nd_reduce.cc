// Reduces slices of updates into the slices at their places.
#include "native/kernel/kernel_types.h"
#include "native/kernel/loops/scatter_nd.h"

LATHE_KERNEL = lathe::ScatterNdReduction<lathe::KernelTypes<lathe::RareNumbers>>();
