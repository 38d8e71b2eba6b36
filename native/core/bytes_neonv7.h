// Bytes on 32-bit ARM with NEON.
#ifndef LATHE_CORE_BYTES_NEONV7_H_
#define LATHE_CORE_BYTES_NEONV7_H_

#include <arm_neon.h>

#include "native/core/byte_state.h"

#define LATHE_VECTORS neonv7

namespace lathe {
namespace {

constexpr ByteForm kByteForm = {false, 0};

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_BYTES_NEONV7_H_
