#include "native/core/byte_table.h"
#include "native/ops/hard_swish/hard_swish_operation.h"

LATHE_KERNEL(hard_swish_any_table__portable) =
    lathe::ByteTableKernel<lathe::HardSwishOperation>("hard_swish_any_table__portable", "hard_swish");
