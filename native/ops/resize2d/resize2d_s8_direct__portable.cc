#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/ops/resize2d/resize2d_bytes.h"

LATHE_KERNEL(resize2d_s8_direct__portable) = lathe::ByteResizeKernel("resize2d_s8_direct__portable", "resize2d");
