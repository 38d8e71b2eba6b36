#include "native/core/byte_table.h"
#include "native/ops/sqrt/sqrt_operation.h"

LATHE_KERNEL(sqrt_any_table__portable) = lathe::ByteTableKernel<lathe::SqrtOperation>("sqrt_any_table__portable",
                                                                                      "sqrt");
