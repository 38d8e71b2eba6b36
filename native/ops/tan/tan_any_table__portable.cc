#include "native/core/byte_table.h"
#include "native/ops/tan/tan_operation.h"

LATHE_KERNEL(tan_any_table__portable) = lathe::ByteTableKernel<lathe::TanOperation>("tan_any_table__portable", "tan");
