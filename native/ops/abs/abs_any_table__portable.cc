#include "native/core/byte_table.h"
#include "native/ops/abs/abs_operation.h"

LATHE_KERNEL(abs_any_table__portable) = lathe::ByteTableKernel<lathe::AbsOperation>("abs_any_table__portable", "abs");
