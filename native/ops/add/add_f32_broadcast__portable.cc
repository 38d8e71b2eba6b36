// a + b, then the activation.
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/ops/add/add_broadcast.h"

LATHE_KERNEL(add_f32_broadcast__portable) =
    lathe::VectorBinaryKernel<lathe::AddOperation>("add_f32_broadcast__portable", "add");
