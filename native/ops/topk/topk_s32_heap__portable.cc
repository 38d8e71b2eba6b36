// The largest or smallest elements of type s32 along an axis, and their places.
#include "native/core/topk.h"

LATHE_KERNEL(topk_s32_heap__portable) = lathe::TopkKernel<lathe::Topk, int32_t>("topk_s32_heap__portable", "topk");
