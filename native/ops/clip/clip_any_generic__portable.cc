// Limits to [low, high], either of which may be infinite; NaN stays NaN. Bounds of integers are rounded inwards.
#include "native/ops/clip/clip_operation.h"

LATHE_KERNEL(clip_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::ClipOperation, lathe::OtherNumbers>("clip_any_generic__portable", "clip");
