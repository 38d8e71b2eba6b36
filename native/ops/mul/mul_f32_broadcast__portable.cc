// a * b.
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/ops/mul/mul_broadcast.h"

LATHE_KERNEL(mul_f32_broadcast__portable) =
    lathe::VectorBinaryKernel<lathe::MulOperation>("mul_f32_broadcast__portable", "mul");
