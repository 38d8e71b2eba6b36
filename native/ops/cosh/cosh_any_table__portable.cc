#include "native/core/byte_table.h"
#include "native/ops/cosh/cosh_operation.h"

LATHE_KERNEL(cosh_any_table__portable) = lathe::ByteTableKernel<lathe::CoshOperation>("cosh_any_table__portable",
                                                                                      "cosh");
