// max(x, 0); NaN stays NaN.
#include "native/core/vector_fp16.h"
// The header of the instruction set goes first.
#include "native/ops/relu/relu_simple.h"

LATHE_KERNEL(relu_f16_simple__fp16) = lathe::VectorUnaryKernel<lathe::ReluOperation>("relu_f16_simple__fp16", "relu");
