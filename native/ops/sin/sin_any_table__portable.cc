#include "native/core/byte_table.h"
#include "native/ops/sin/sin_operation.h"

LATHE_KERNEL(sin_any_table__portable) = lathe::ByteTableKernel<lathe::SinOperation>("sin_any_table__portable", "sin");
