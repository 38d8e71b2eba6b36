#include "native/core/byte_table.h"
#include "native/ops/neg/neg_operation.h"

LATHE_KERNEL(neg_any_table__portable) = lathe::ByteTableKernel<lathe::NegOperation>("neg_any_table__portable", "neg");
