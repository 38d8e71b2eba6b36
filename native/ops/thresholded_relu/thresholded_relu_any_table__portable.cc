#include "native/core/byte_table.h"
#include "native/ops/thresholded_relu/thresholded_relu_operation.h"

LATHE_KERNEL(thresholded_relu_any_table__portable) =
    lathe::ByteTableKernel<lathe::ThresholdedReluOperation>("thresholded_relu_any_table__portable", "thresholded_relu");
