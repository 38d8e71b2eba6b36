#include "native/core/byte_table.h"
#include "native/ops/asin/asin_operation.h"

LATHE_KERNEL(asin_any_table__portable) = lathe::ByteTableKernel<lathe::AsinOperation>("asin_any_table__portable",
                                                                                      "asin");
