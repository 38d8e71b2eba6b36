// Images of doubles of another size, nearest or bilinear.
#include "native/kernel/simd/simd.h"
#include "native/ops/resize2d/resize2d_pixels.h"

LATHE_KERNEL = lathe::ResizeKernel<double>();
