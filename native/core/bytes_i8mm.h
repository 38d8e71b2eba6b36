// Bytes on 64-bit ARM with products of blocks of bytes.
#ifndef LATHE_CORE_BYTES_I8MM_H_
#define LATHE_CORE_BYTES_I8MM_H_

#include <arm_neon.h>

#include "native/core/byte_state.h"

#define LATHE_VECTORS i8mm

namespace lathe {
namespace {

constexpr ByteForm kByteForm = {true, 0};

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_BYTES_I8MM_H_
