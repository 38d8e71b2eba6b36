// Hyperbolic tangent.
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/ops/tanh/tanh_f32_simple.h"

LATHE_KERNEL(tanh_f32_simple__portable) =
    lathe::VectorUnaryKernel<lathe::TanhOperation, true>("tanh_f32_simple__portable", "tanh");
