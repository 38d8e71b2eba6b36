// a * b.
#include "native/core/vector_half.h"
// The header of the instruction set goes first.
#include "native/ops/mul/mul_broadcast.h"

LATHE_KERNEL(mul_f16_broadcast__fp16) = lathe::VectorBinaryKernel<lathe::MulOperation>("mul_f16_broadcast__fp16",
                                                                                       "mul");
