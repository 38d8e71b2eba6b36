#include "native/core/byte_table.h"
#include "native/ops/relu/relu_operation.h"

LATHE_KERNEL(relu_any_table__portable) = lathe::ByteTableKernel<lathe::ReluOperation>("relu_any_table__portable",
                                                                                      "relu");
