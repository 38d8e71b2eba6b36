// The largest or smallest elements of type s32 along an axis, and their places.
#include "native/core/topk.h"

LATHE_KERNEL(topk_by_input_s32_heap__portable) =
    lathe::TopkKernel<lathe::TopkByInput, int32_t>("topk_by_input_s32_heap__portable", "topk_by_input");
