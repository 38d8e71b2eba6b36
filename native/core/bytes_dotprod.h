// Bytes on 64-bit ARM with products of four bytes at a time.
#ifndef LATHE_CORE_BYTES_DOTPROD_H_
#define LATHE_CORE_BYTES_DOTPROD_H_

#include <arm_neon.h>

#include "native/core/byte_state.h"

#define LATHE_VECTORS dotprod

namespace lathe {
namespace {

constexpr ByteForm kByteForm = {false, 0};

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_BYTES_DOTPROD_H_
