// x * sigmoid(x).
#include "native/core/vector_half.h"
// The header of the instruction set goes first.
#include "native/ops/swish/swish_f32_simple.h"

LATHE_KERNEL(swish_f16_simple__fp16) = lathe::VectorUnaryKernel<lathe::SwishOperation, true>("swish_f16_simple__fp16",
                                                                                             "swish");
