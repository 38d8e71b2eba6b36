#define LATHE_ISA neon
#include "native/vision/rows_unit.h"
