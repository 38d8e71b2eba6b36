// Separable convolution of halves, for every machine.
#include "native/ops/separable_conv2d/separable_conv2d_halves.h"

LATHE_KERNEL = lathe::HalfPairKernel<false>();
