// Convolution of halves, for every machine.
#include "native/kernel/spatial/half_conv.h"

LATHE_KERNEL = lathe::HalfConvKernel<lathe::HalfConv>();
