// (x - mean) / sqrt(variance + epsilon) * scale + bias over rows.
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/core/row_norm.h"

LATHE_KERNEL(layer_norm_f32_simple__portable) = lathe::RowNormKernel<true, 2>("layer_norm_f32_simple__portable",
                                                                              "layer_norm");
