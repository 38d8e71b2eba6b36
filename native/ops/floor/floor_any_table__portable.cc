#include "native/core/byte_table.h"
#include "native/ops/floor/floor_operation.h"

LATHE_KERNEL(floor_any_table__portable) = lathe::ByteTableKernel<lathe::FloorOperation>("floor_any_table__portable",
                                                                                        "floor");
