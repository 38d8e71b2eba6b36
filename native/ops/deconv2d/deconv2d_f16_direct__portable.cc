// Transposed convolution of halves, for every machine.
#include "native/core/half_conv.h"

LATHE_KERNEL(deconv2d_f16_direct__portable) = lathe::HalfConvKernel<lathe::HalfDeconv>("deconv2d_f16_direct__portable",
                                                                                       "deconv2d");
