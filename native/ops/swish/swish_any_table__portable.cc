#include "native/core/byte_table.h"
#include "native/ops/swish/swish_operation.h"

LATHE_KERNEL(swish_any_table__portable) = lathe::ByteTableKernel<lathe::SwishOperation>("swish_any_table__portable",
                                                                                        "swish");
