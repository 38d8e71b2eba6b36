// Depthwise convolution of halves, for every machine.
#include "native/core/half_conv.h"

LATHE_KERNEL(dwconv2d_f16_direct__portable) =
    lathe::HalfConvKernel<lathe::HalfDepthwise>("dwconv2d_f16_direct__portable", "dwconv2d");
