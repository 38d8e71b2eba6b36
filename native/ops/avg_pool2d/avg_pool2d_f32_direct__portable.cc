// The mean of each window.
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/ops/avg_pool2d/avg_pool2d_direct.h"

LATHE_KERNEL(avg_pool2d_f32_direct__portable) = lathe::PoolKernel<lathe::MeanFold>("avg_pool2d_f32_direct__portable",
                                                                                   "avg_pool2d");
