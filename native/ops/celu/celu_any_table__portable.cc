#include "native/core/byte_table.h"
#include "native/ops/celu/celu_operation.h"

LATHE_KERNEL(celu_any_table__portable) = lathe::ByteTableKernel<lathe::CeluOperation>("celu_any_table__portable",
                                                                                      "celu");
