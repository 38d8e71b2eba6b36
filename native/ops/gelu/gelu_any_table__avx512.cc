#include "native/core/byte_table.h"
#include "native/ops/gelu/gelu_operation.h"

LATHE_KERNEL(gelu_any_table__avx512) = lathe::ByteTableKernel<lathe::GeluOperation>("gelu_any_table__avx512", "gelu");
