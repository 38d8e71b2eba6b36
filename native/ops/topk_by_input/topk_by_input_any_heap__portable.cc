// The largest or smallest elements of the rarer types along an axis, and their places.
#include "native/core/topk.h"

LATHE_KERNEL(topk_by_input_any_heap__portable) =
    lathe::TopkKernel<lathe::TopkByInput, lathe::Half, lathe::Bf16, double, int8_t, uint8_t, int16_t, uint16_t,
                      uint32_t, uint64_t>("topk_by_input_any_heap__portable", "topk_by_input");
