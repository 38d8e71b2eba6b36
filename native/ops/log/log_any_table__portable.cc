#include "native/core/byte_table.h"
#include "native/ops/log/log_operation.h"

LATHE_KERNEL(log_any_table__portable) = lathe::ByteTableKernel<lathe::LogOperation>("log_any_table__portable", "log");
