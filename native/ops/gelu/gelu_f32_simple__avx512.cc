// x times the normal distribution of x, by erf or by its approximation with tanh.
#include "native/core/vector_avx512.h"
// The header of the instruction set goes first.
#include "native/ops/gelu/gelu_f32_simple.h"

LATHE_KERNEL(gelu_f32_simple__avx512) = lathe::VectorUnaryKernel<lathe::GeluOperation, true>("gelu_f32_simple__avx512",
                                                                                             "gelu");
