#include "native/core/byte_table.h"
#include "native/ops/atan/atan_operation.h"

LATHE_KERNEL(atan_any_table__portable) = lathe::ByteTableKernel<lathe::AtanOperation>("atan_any_table__portable",
                                                                                      "atan");
