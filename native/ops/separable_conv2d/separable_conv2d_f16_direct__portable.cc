// Separable convolution of halves, for every machine.
#include "native/ops/separable_conv2d/separable_conv2d_halves.h"

LATHE_KERNEL(separable_conv2d_f16_direct__portable) =
    lathe::HalfPairKernel<false>("separable_conv2d_f16_direct__portable", "separable_conv2d");
