#include "native/core/byte_table.h"
#include "native/ops/acosh/acosh_operation.h"

LATHE_KERNEL(acosh_any_table__portable) = lathe::ByteTableKernel<lathe::AcoshOperation>("acosh_any_table__portable",
                                                                                        "acosh");
