#include "native/core/byte_table.h"
#include "native/ops/reciprocal/reciprocal_operation.h"

LATHE_KERNEL(reciprocal_any_table__portable) =
    lathe::ByteTableKernel<lathe::ReciprocalOperation>("reciprocal_any_table__portable", "reciprocal");
