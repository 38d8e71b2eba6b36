#include "native/ops/mul/mul_bytes.h"

LATHE_KERNEL(mul_s8_broadcast__avx512) = lathe::ByteBinaryKernel<lathe::MulBytes>("mul_s8_broadcast__avx512", "mul");
