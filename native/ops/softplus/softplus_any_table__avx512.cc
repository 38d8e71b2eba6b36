#include "native/core/byte_table.h"
#include "native/ops/softplus/softplus_operation.h"

LATHE_KERNEL(softplus_any_table__avx512) =
    lathe::ByteTableKernel<lathe::SoftplusOperation>("softplus_any_table__avx512", "softplus");
