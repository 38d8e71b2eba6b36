#include "native/core/byte_table.h"
#include "native/ops/elu/elu_operation.h"

LATHE_KERNEL(elu_any_table__portable) = lathe::ByteTableKernel<lathe::EluOperation>("elu_any_table__portable", "elu");
