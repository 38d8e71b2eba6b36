// e^x.
#include "native/core/vector_avx2.h"
// The header of the instruction set goes first.
#include "native/ops/exp/exp_f32_simple.h"

LATHE_KERNEL(exp_f32_simple__avx2) = lathe::VectorUnaryKernel<lathe::ExpOperation, true>("exp_f32_simple__avx2", "exp");
