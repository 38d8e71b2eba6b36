#include "native/core/byte_table.h"
#include "native/ops/clip/clip_operation.h"

LATHE_KERNEL(clip_any_table__avx512) = lathe::ByteTableKernel<lathe::ClipOperation>("clip_any_table__avx512", "clip");
