#include "native/core/byte_table.h"
#include "native/ops/tanh/tanh_operation.h"

LATHE_KERNEL(tanh_any_table__portable) = lathe::ByteTableKernel<lathe::TanhOperation>("tanh_any_table__portable",
                                                                                      "tanh");
