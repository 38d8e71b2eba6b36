#include "native/ops/mul/mul_bytes.h"

LATHE_KERNEL(mul_s8_broadcast__portable) = lathe::ByteBinaryKernel<lathe::MulBytes>("mul_s8_broadcast__portable",
                                                                                    "mul");
