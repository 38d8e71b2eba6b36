#include "native/core/vector_half.h"
// The header of the instruction set goes first.
#include "native/core/vector_activation_unit.h"
