#include "native/core/byte_table.h"
#include "native/ops/shrink/shrink_operation.h"

LATHE_KERNEL(shrink_any_table__portable) = lathe::ByteTableKernel<lathe::ShrinkOperation>("shrink_any_table__portable",
                                                                                          "shrink");
