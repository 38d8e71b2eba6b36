// Reduces updates of type s32 into what stands there.
#include "native/core/scatter_nd.h"

LATHE_KERNEL(scatter_nd_s32_reduce__portable) = lathe::ScatterNdReduction<int32_t>("scatter_nd_s32_reduce__portable",
                                                                                   "scatter_nd");
