// 1x1 convolution of halves and depthwise convolution behind it, for every machine: what a window looks at is computed
// for each window anew.
#include "native/ops/separable_conv2d/separable_conv2d_halves.h"

LATHE_KERNEL = lathe::HalfPairKernel<true>();
