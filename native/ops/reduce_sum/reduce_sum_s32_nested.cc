// The sum; integers wrap around.
#include "native/kernel/kernel_types.h"
#include "native/kernel/loops/reduce.h"

LATHE_KERNEL = lathe::ReduceKernel<lathe::SumFold<lathe::KernelType, uint32_t>, lathe::KernelType, uint32_t>();
