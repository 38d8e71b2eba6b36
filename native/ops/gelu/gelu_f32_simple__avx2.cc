// x times the normal distribution of x, by erf or by its approximation with tanh.
#include "native/core/vector_avx2.h"
// The header of the instruction set goes first.
#include "native/ops/gelu/gelu_f32_simple.h"

LATHE_KERNEL(gelu_f32_simple__avx2) = lathe::VectorUnaryKernel<lathe::GeluOperation, true>("gelu_f32_simple__avx2",
                                                                                           "gelu");
