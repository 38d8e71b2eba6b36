// Bytes on 64-bit ARM.
#ifndef LATHE_CORE_BYTES_NEON_H_
#define LATHE_CORE_BYTES_NEON_H_

#include <arm_neon.h>

#include "native/core/byte_state.h"

#define LATHE_VECTORS neon

namespace lathe {
namespace {

constexpr ByteForm kByteForm = {false, 0};

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_BYTES_NEON_H_
