// Reduces updates of the rarer types into what stands there.
#include "native/core/scatter_nd.h"

LATHE_KERNEL(scatter_nd_any_reduce__portable) =
    lathe::ScatterNdReduction<lathe::Half, lathe::Bf16, double, int8_t, uint8_t, int16_t, uint16_t, uint32_t, uint64_t>(
        "scatter_nd_any_reduce__portable", "scatter_nd");
