// 1 / (1 + e^-x).
#include "native/core/vector_half.h"
// The header of the instruction set goes first.
#include "native/ops/sigmoid/sigmoid_f32_simple.h"

LATHE_KERNEL(sigmoid_f16_simple__fp16) =
    lathe::VectorUnaryKernel<lathe::SigmoidOperation, true>("sigmoid_f16_simple__fp16", "sigmoid");
