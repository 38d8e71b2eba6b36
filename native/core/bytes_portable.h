// Bytes on any machine.
#ifndef LATHE_CORE_BYTES_PORTABLE_H_
#define LATHE_CORE_BYTES_PORTABLE_H_

#include "native/core/byte_state.h"

#define LATHE_VECTORS portable

namespace lathe {
namespace {

constexpr ByteForm kByteForm = {false, 0};

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_BYTES_PORTABLE_H_
