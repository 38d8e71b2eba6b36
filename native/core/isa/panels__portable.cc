#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/core/panels_unit.h"
