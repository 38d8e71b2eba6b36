// Reduces updates of the rarer types into what stands there.
#include "native/core/scatter_elements.h"

LATHE_KERNEL(scatter_elements_any_reduce__portable) =
    lathe::ScatterElementsReduction<lathe::Half, lathe::Bf16, double, int8_t, uint8_t, int16_t, uint16_t, uint32_t,
                                    uint64_t>("scatter_elements_any_reduce__portable", "scatter_elements");
