// x * sigmoid(x).
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/ops/swish/swish_f32_simple.h"

LATHE_KERNEL(swish_f32_simple__portable) =
    lathe::VectorUnaryKernel<lathe::SwishOperation, true>("swish_f32_simple__portable", "swish");
