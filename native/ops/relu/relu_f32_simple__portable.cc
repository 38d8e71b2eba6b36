// max(x, 0); NaN stays NaN.
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/ops/relu/relu_simple.h"

LATHE_KERNEL(relu_f32_simple__portable) = lathe::VectorUnaryKernel<lathe::ReluOperation>("relu_f32_simple__portable",
                                                                                         "relu");
