#include "native/core/vector_neon.h"
// The header of the instruction set goes first.
#include "native/core/depthwise_unit.h"
