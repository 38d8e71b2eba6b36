#include "native/core/byte_table.h"
#include "native/ops/sign/sign_operation.h"

LATHE_KERNEL(sign_any_table__portable) = lathe::ByteTableKernel<lathe::SignOperation>("sign_any_table__portable",
                                                                                      "sign");
