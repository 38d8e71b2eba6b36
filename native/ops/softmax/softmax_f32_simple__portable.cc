// e^(x - max) divided by its sum along one axis.
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/ops/softmax/softmax_f32_simple.h"

LATHE_KERNEL(softmax_f32_simple__portable) = {
    "softmax_f32_simple__portable", "softmax", sizeof(lathe::State), 0, 0, lathe::Prepare, lathe::PlanRun, lathe::Run};
