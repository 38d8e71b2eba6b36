#include "native/core/byte_table.h"
#include "native/ops/cos/cos_operation.h"

LATHE_KERNEL(cos_any_table__portable) = lathe::ByteTableKernel<lathe::CosOperation>("cos_any_table__portable", "cos");
