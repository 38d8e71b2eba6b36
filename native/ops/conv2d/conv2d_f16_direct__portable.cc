// Convolution of halves, for every machine.
#include "native/core/half_conv.h"

LATHE_KERNEL(conv2d_f16_direct__portable) = lathe::HalfConvKernel<lathe::HalfConv>("conv2d_f16_direct__portable",
                                                                                   "conv2d");
