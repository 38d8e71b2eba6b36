#include "native/core/byte_table.h"
#include "native/ops/mish/mish_operation.h"

LATHE_KERNEL(mish_any_table__portable) = lathe::ByteTableKernel<lathe::MishOperation>("mish_any_table__portable",
                                                                                      "mish");
