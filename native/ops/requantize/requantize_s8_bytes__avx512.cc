#include "native/ops/requantize/requantize_bytes.h"

LATHE_KERNEL(requantize_s8_bytes__avx512) = lathe::RequantizeBytesKernel("requantize_s8_bytes__avx512", "requantize");
