#include "native/ops/concat/concat_bytes.h"

LATHE_KERNEL(concat_s8_requantize__portable) = lathe::ByteConcatKernel("concat_s8_requantize__portable", "concat");
