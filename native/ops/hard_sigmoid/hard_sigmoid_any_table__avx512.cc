#include "native/core/byte_table.h"
#include "native/ops/hard_sigmoid/hard_sigmoid_operation.h"

LATHE_KERNEL(hard_sigmoid_any_table__avx512) =
    lathe::ByteTableKernel<lathe::HardSigmoidOperation>("hard_sigmoid_any_table__avx512", "hard_sigmoid");
