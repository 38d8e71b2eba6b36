#define LATHE_ISA portable
#include "native/vision/rows_unit.h"
