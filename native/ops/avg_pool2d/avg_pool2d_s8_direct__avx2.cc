#include "native/ops/avg_pool2d/avg_pool2d_bytes.h"

LATHE_KERNEL(avg_pool2d_s8_direct__avx2) = lathe::BytePoolKernel<lathe::MeanBytes>("avg_pool2d_s8_direct__avx2",
                                                                                   "avg_pool2d");
