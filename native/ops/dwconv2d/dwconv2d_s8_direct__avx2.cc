#include "native/ops/dwconv2d/dwconv2d_bytes_direct.h"

LATHE_KERNEL(dwconv2d_s8_direct__avx2) = lathe::DwBytesDirectKernel("dwconv2d_s8_direct__avx2", "dwconv2d");
