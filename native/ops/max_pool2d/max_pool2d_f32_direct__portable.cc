// The largest element of each window; padding never wins, NaN does.
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/ops/max_pool2d/max_pool2d_f32_direct.h"

LATHE_KERNEL(max_pool2d_f32_direct__portable) = lathe::PoolKernel<lathe::MaxFold>("max_pool2d_f32_direct__portable",
                                                                                  "max_pool2d");
