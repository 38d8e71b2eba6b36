// x where it is above alpha, else 0.
#include "native/ops/thresholded_relu/thresholded_relu_operation.h"

LATHE_KERNEL(thresholded_relu_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::ThresholdedReluOperation, lathe::OtherFloats>(
        "thresholded_relu_any_generic__portable", "thresholded_relu");
