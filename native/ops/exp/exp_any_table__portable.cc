#include "native/core/byte_table.h"
#include "native/ops/exp/exp_operation.h"

LATHE_KERNEL(exp_any_table__portable) = lathe::ByteTableKernel<lathe::ExpOperation>("exp_any_table__portable", "exp");
