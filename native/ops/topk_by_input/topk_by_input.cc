// The largest or smallest elements along an axis, as many as an input says, and their places.
#include "native/kernel/kernel_types.h"
#include "native/kernel/loops/topk.h"

LATHE_KERNEL = lathe::TopkKernel<lathe::TopkByInput, lathe::KernelTypes<lathe::RareNumbers>>();
