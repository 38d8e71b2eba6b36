#include "native/core/vector_avx512.h"
// The header of the instruction set goes first.
#include "native/core/depthwise_unit.h"
