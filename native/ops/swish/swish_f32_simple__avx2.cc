// x * sigmoid(x).
#include "native/core/vector_avx2.h"
// The header of the instruction set goes first.
#include "native/ops/swish/swish_f32_simple.h"

LATHE_KERNEL(swish_f32_simple__avx2) = lathe::VectorUnaryKernel<lathe::SwishOperation, true>("swish_f32_simple__avx2",
                                                                                             "swish");
