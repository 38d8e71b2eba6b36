// The largest or smallest elements of type f32 along an axis, and their places.
#include "native/core/topk.h"

LATHE_KERNEL(topk_f32_heap__portable) = lathe::TopkKernel<lathe::Topk, float>("topk_f32_heap__portable", "topk");
