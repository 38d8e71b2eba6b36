#include "native/core/vector_fp16.h"
// The header of the instruction set goes first.
#include "native/core/depthwise_unit.h"
