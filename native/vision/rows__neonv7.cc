#define LATHE_ISA neonv7
#include "native/vision/rows_unit.h"
