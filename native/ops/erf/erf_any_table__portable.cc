#include "native/core/byte_table.h"
#include "native/ops/erf/erf_operation.h"

LATHE_KERNEL(erf_any_table__portable) = lathe::ByteTableKernel<lathe::ErfOperation>("erf_any_table__portable", "erf");
