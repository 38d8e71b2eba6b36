#include "native/core/byte_table.h"
#include "native/ops/acos/acos_operation.h"

LATHE_KERNEL(acos_any_table__portable) = lathe::ByteTableKernel<lathe::AcosOperation>("acos_any_table__portable",
                                                                                      "acos");
