// The largest element of each window; padding never wins, NaN does.
#include "native/core/vector_fp16.h"
// The header of the instruction set goes first.
#include "native/ops/max_pool2d/max_pool2d_f32_direct.h"

LATHE_KERNEL(max_pool2d_f16_direct__fp16) = lathe::PoolKernel<lathe::MaxFold>("max_pool2d_f16_direct__fp16",
                                                                              "max_pool2d");
