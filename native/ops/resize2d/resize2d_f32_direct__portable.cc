// Images of floats of another size, nearest or bilinear.
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/ops/resize2d/resize2d_direct.h"

LATHE_KERNEL(resize2d_f32_direct__portable) = lathe::ResizeKernel<float>("resize2d_f32_direct__portable", "resize2d");
