#define LATHE_ISA avx2
#include "native/vision/rows_unit.h"
