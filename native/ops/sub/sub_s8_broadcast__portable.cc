#include "native/ops/sub/sub_bytes.h"

LATHE_KERNEL(sub_s8_broadcast__portable) = lathe::ByteBinaryKernel<lathe::SubBytes>("sub_s8_broadcast__portable",
                                                                                    "sub");
