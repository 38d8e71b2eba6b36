// Bytes on AVX-512 with VNNI.
#ifndef LATHE_CORE_BYTES_VNNI_H_
#define LATHE_CORE_BYTES_VNNI_H_

#include <immintrin.h>

#include "native/core/byte_state.h"

#define LATHE_VECTORS vnni

namespace lathe {
namespace {

constexpr ByteForm kByteForm = {false, 128};

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_BYTES_VNNI_H_
