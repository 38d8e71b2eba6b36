// Hyperbolic tangent.
#include "native/core/vector_avx512.h"
// The header of the instruction set goes first.
#include "native/ops/tanh/tanh_f32_simple.h"

LATHE_KERNEL(tanh_f32_simple__avx512) = lathe::VectorUnaryKernel<lathe::TanhOperation, true>("tanh_f32_simple__avx512",
                                                                                             "tanh");
