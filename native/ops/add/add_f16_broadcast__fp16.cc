// a + b, then the activation.
#include "native/core/vector_half.h"
// The header of the instruction set goes first.
#include "native/ops/add/add_broadcast.h"

LATHE_KERNEL(add_f16_broadcast__fp16) = lathe::VectorBinaryKernel<lathe::AddOperation>("add_f16_broadcast__fp16",
                                                                                       "add");
