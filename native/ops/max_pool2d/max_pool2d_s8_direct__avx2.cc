#include "native/ops/max_pool2d/max_pool2d_bytes.h"

LATHE_KERNEL(max_pool2d_s8_direct__avx2) = lathe::BytePoolKernel<lathe::MaxBytes>("max_pool2d_s8_direct__avx2",
                                                                                  "max_pool2d");
