// Reduces updates of type s32 into what stands there.
#include "native/core/scatter_elements.h"

LATHE_KERNEL(scatter_elements_s32_reduce__portable) =
    lathe::ScatterElementsReduction<int32_t>("scatter_elements_s32_reduce__portable", "scatter_elements");
