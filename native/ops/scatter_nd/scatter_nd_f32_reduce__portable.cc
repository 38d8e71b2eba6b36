// Reduces updates of type f32 into what stands there.
#include "native/core/scatter_nd.h"

LATHE_KERNEL(scatter_nd_f32_reduce__portable) = lathe::ScatterNdReduction<float>("scatter_nd_f32_reduce__portable",
                                                                                 "scatter_nd");
