// Reduces updates of type s64 into what stands there.
#include "native/core/scatter_elements.h"

LATHE_KERNEL(scatter_elements_s64_reduce__portable) =
    lathe::ScatterElementsReduction<int64_t>("scatter_elements_s64_reduce__portable", "scatter_elements");
