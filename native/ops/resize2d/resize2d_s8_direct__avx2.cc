#include "native/core/vector_avx2.h"
// The header of the instruction set goes first.
#include "native/ops/resize2d/resize2d_bytes.h"

LATHE_KERNEL(resize2d_s8_direct__avx2) = lathe::ByteResizeKernel("resize2d_s8_direct__avx2", "resize2d");
