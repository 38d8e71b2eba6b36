#include "native/core/byte_table.h"
#include "native/ops/atanh/atanh_operation.h"

LATHE_KERNEL(atanh_any_table__portable) = lathe::ByteTableKernel<lathe::AtanhOperation>("atanh_any_table__portable",
                                                                                        "atanh");
