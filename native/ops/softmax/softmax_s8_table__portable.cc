#include "native/ops/softmax/softmax_bytes.h"

LATHE_KERNEL(softmax_s8_table__portable) =
    lathe::AxisKernel<lathe::SoftmaxBytes, lathe::Types<int8_t>>("softmax_s8_table__portable", "softmax");
