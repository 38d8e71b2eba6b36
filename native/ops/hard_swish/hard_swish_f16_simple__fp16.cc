// x * clip(x / 6 + 1/2, 0, 1).
#include "native/core/vector_half.h"
// The header of the instruction set goes first.
#include "native/ops/hard_swish/hard_swish_simple.h"

LATHE_KERNEL(hard_swish_f16_simple__fp16) =
    lathe::VectorUnaryKernel<lathe::HardSwishOperation>("hard_swish_f16_simple__fp16", "hard_swish");
