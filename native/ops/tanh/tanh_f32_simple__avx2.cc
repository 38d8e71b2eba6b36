// Hyperbolic tangent.
#include "native/core/vector_avx2.h"
// The header of the instruction set goes first.
#include "native/ops/tanh/tanh_f32_simple.h"

LATHE_KERNEL(tanh_f32_simple__avx2) = lathe::VectorUnaryKernel<lathe::TanhOperation, true>("tanh_f32_simple__avx2",
                                                                                           "tanh");
