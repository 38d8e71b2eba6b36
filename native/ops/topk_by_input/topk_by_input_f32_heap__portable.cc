// The largest or smallest elements of type f32 along an axis, and their places.
#include "native/core/topk.h"

LATHE_KERNEL(topk_by_input_f32_heap__portable) =
    lathe::TopkKernel<lathe::TopkByInput, float>("topk_by_input_f32_heap__portable", "topk_by_input");
