#include "native/ops/dwconv2d/dwconv2d_bytes_direct.h"

LATHE_KERNEL(dwconv2d_s8_direct__portable) = lathe::DwBytesDirectKernel("dwconv2d_s8_direct__portable", "dwconv2d");
