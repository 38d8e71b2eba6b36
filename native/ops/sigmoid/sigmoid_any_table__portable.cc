#include "native/core/byte_table.h"
#include "native/ops/sigmoid/sigmoid_operation.h"

LATHE_KERNEL(sigmoid_any_table__portable) =
    lathe::ByteTableKernel<lathe::SigmoidOperation>("sigmoid_any_table__portable", "sigmoid");
