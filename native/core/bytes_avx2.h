// Bytes on AVX2.
#ifndef LATHE_CORE_BYTES_AVX2_H_
#define LATHE_CORE_BYTES_AVX2_H_

#include <immintrin.h>

#include "native/core/byte_state.h"

#define LATHE_VECTORS avx2

namespace lathe {
namespace {

constexpr ByteForm kByteForm = {false, 0};

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_BYTES_AVX2_H_
