// 1 / (1 + e^-x).
#include "native/core/vector_avx512.h"
// The header of the instruction set goes first.
#include "native/ops/sigmoid/sigmoid_f32_simple.h"

LATHE_KERNEL(sigmoid_f32_simple__avx512) =
    lathe::VectorUnaryKernel<lathe::SigmoidOperation, true>("sigmoid_f32_simple__avx512", "sigmoid");
