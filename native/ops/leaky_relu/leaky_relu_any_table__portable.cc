#include "native/core/byte_table.h"
#include "native/ops/leaky_relu/leaky_relu_operation.h"

LATHE_KERNEL(leaky_relu_any_table__portable) =
    lathe::ByteTableKernel<lathe::LeakyReluOperation>("leaky_relu_any_table__portable", "leaky_relu");
