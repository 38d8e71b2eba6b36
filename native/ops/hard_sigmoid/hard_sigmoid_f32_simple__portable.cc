// max(0, min(1, alpha * x + beta)).
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/ops/hard_sigmoid/hard_sigmoid_simple.h"

LATHE_KERNEL(hard_sigmoid_f32_simple__portable) =
    lathe::VectorUnaryKernel<lathe::HardSigmoidOperation>("hard_sigmoid_f32_simple__portable", "hard_sigmoid");
