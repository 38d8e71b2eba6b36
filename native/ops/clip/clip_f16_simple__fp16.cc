// Limits to [low, high], either of which may be infinite; NaN stays NaN.
#include "native/core/vector_fp16.h"
// The header of the instruction set goes first.
#include "native/ops/clip/clip_simple.h"

LATHE_KERNEL(clip_f16_simple__fp16) = lathe::VectorUnaryKernel<lathe::ClipOperation>("clip_f16_simple__fp16", "clip");
