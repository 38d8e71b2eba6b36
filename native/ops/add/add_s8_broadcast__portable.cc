#include "native/ops/add/add_bytes.h"

LATHE_KERNEL(add_s8_broadcast__portable) = lathe::ByteBinaryKernel<lathe::AddBytes>("add_s8_broadcast__portable",
                                                                                    "add");
