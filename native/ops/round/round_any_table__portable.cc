#include "native/core/byte_table.h"
#include "native/ops/round/round_operation.h"

LATHE_KERNEL(round_any_table__portable) = lathe::ByteTableKernel<lathe::RoundOperation>("round_any_table__portable",
                                                                                        "round");
