// Reduces updates of type f32 into what stands there.
#include "native/core/scatter_elements.h"

LATHE_KERNEL(scatter_elements_f32_reduce__portable) =
    lathe::ScatterElementsReduction<float>("scatter_elements_f32_reduce__portable", "scatter_elements");
