#include "native/ops/requantize/requantize_bytes.h"

LATHE_KERNEL(requantize_s8_bytes__neon) = lathe::RequantizeBytesKernel("requantize_s8_bytes__neon", "requantize");
