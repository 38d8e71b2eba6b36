#include "native/core/byte_table.h"
#include "native/ops/selu/selu_operation.h"

LATHE_KERNEL(selu_any_table__portable) = lathe::ByteTableKernel<lathe::SeluOperation>("selu_any_table__portable",
                                                                                      "selu");
