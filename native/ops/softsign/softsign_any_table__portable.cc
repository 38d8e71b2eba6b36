#include "native/core/byte_table.h"
#include "native/ops/softsign/softsign_operation.h"

LATHE_KERNEL(softsign_any_table__portable) =
    lathe::ByteTableKernel<lathe::SoftsignOperation>("softsign_any_table__portable", "softsign");
