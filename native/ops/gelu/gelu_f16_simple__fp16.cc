// x times the normal distribution of x, by erf or by its approximation with tanh.
#include "native/core/vector_half.h"
// The header of the instruction set goes first.
#include "native/ops/gelu/gelu_f32_simple.h"

LATHE_KERNEL(gelu_f16_simple__fp16) = lathe::VectorUnaryKernel<lathe::GeluOperation, true>("gelu_f16_simple__fp16",
                                                                                           "gelu");
