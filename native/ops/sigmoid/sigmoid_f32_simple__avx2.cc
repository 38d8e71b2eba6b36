// 1 / (1 + e^-x).
#include "native/core/vector_avx2.h"
// The header of the instruction set goes first.
#include "native/ops/sigmoid/sigmoid_f32_simple.h"

LATHE_KERNEL(sigmoid_f32_simple__avx2) =
    lathe::VectorUnaryKernel<lathe::SigmoidOperation, true>("sigmoid_f32_simple__avx2", "sigmoid");
