// Limits to [low, high], either of which may be infinite; NaN stays NaN.
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/ops/clip/clip_simple.h"

LATHE_KERNEL(clip_f32_simple__portable) = lathe::VectorUnaryKernel<lathe::ClipOperation>("clip_f32_simple__portable",
                                                                                         "clip");
