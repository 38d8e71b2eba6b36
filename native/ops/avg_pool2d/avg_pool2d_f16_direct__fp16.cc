// The mean of each window of halves, which are added up as floats.
#include "native/core/vector_half.h"
// The header of the instruction set goes first.
#include "native/ops/avg_pool2d/avg_pool2d_direct.h"

LATHE_KERNEL(avg_pool2d_f16_direct__fp16) = lathe::PoolKernel<lathe::MeanFold>("avg_pool2d_f16_direct__fp16",
                                                                               "avg_pool2d");
