#include "native/core/byte_table.h"
#include "native/ops/ceil/ceil_operation.h"

LATHE_KERNEL(ceil_any_table__portable) = lathe::ByteTableKernel<lathe::CeilOperation>("ceil_any_table__portable",
                                                                                      "ceil");
