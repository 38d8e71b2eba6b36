#include "native/core/byte_table.h"
#include "native/ops/sinh/sinh_operation.h"

LATHE_KERNEL(sinh_any_table__portable) = lathe::ByteTableKernel<lathe::SinhOperation>("sinh_any_table__portable",
                                                                                      "sinh");
