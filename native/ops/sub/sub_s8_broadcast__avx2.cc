#include "native/ops/sub/sub_bytes.h"

LATHE_KERNEL(sub_s8_broadcast__avx2) = lathe::ByteBinaryKernel<lathe::SubBytes>("sub_s8_broadcast__avx2", "sub");
