#include "native/core/byte_table.h"
#include "native/ops/asinh/asinh_operation.h"

LATHE_KERNEL(asinh_any_table__portable) = lathe::ByteTableKernel<lathe::AsinhOperation>("asinh_any_table__portable",
                                                                                        "asinh");
