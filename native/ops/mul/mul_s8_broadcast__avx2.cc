#include "native/ops/mul/mul_bytes.h"

LATHE_KERNEL(mul_s8_broadcast__avx2) = lathe::ByteBinaryKernel<lathe::MulBytes>("mul_s8_broadcast__avx2", "mul");
