// Hyperbolic tangent.
#include "native/core/vector_half.h"
// The header of the instruction set goes first.
#include "native/ops/tanh/tanh_f32_simple.h"

LATHE_KERNEL(tanh_f16_simple__fp16) = lathe::VectorUnaryKernel<lathe::TanhOperation, true>("tanh_f16_simple__fp16",
                                                                                           "tanh");
