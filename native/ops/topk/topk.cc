// The largest or smallest elements along an axis, and their places.
#include "native/kernel/loops/topk.h"
#include "native/kernel/kernel_types.h"

LATHE_KERNEL = lathe::TopkKernel<lathe::Topk, lathe::KernelTypes<lathe::RareNumbers>>();
