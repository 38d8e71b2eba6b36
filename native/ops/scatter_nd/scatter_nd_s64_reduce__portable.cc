// Reduces updates of type s64 into what stands there.
#include "native/core/scatter_nd.h"

LATHE_KERNEL(scatter_nd_s64_reduce__portable) = lathe::ScatterNdReduction<int64_t>("scatter_nd_s64_reduce__portable",
                                                                                   "scatter_nd");
