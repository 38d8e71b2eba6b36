// memcpy and memset for rows of a few hundred bytes: by vectors on the DSP, whose library has calls for them only, and
// inline elsewhere, as such rows are copied in less instructions than a call takes.
#ifndef LATHE_KERNEL_SIMD_COPY_BYTES_H_
#define LATHE_KERNEL_SIMD_COPY_BYTES_H_

#include <stdint.h>
#include <string.h>

#if defined(__HVX__)
#include "native/kernel/quantised/requantise_hvx.h"
#endif
#include "native/runtime/span.h"

namespace lathe {
namespace {

#if defined(__HVX__)

LATHE_INLINE void FillBytes(int8_t* to, int64_t bytes, int8_t value) {
  const HVX_Vector vector = Q6_Vb_vsplat_R(value);
  int count = static_cast<int>(bytes);
  for (; count >= kHvxBytes; count -= kHvxBytes, to += kHvxBytes) StoreAny(vector, to);
  if (count > 0) StoreFew(vector, count, to);
}

// Nothing behind the last byte is read.
LATHE_INLINE void CopyBytes(void* target, const void* source, int64_t bytes) {
  auto* to = static_cast<int8_t*>(target);
  auto* from = static_cast<const int8_t*>(source);
  int count = static_cast<int>(bytes);
  for (; count >= kHvxBytes; count -= kHvxBytes, to += kHvxBytes, from += kHvxBytes) StoreAny(LoadAny(from), to);
  if (count > 0) StoreFew(LoadFew(from, count), count, to);
}

#else

LATHE_INLINE void FillBytes(int8_t* to, int64_t bytes, int8_t value) { memset(to, value, static_cast<size_t>(bytes)); }

// The last vector overlaps the one before.
LATHE_INLINE void CopyBytes(void* target, const void* source, int64_t bytes) {
  constexpr int64_t kVector = 16, kFew = 256;
  if (bytes > kFew || bytes < kVector) {
    memcpy(target, source, static_cast<size_t>(bytes));
    return;
  }
  auto* to = static_cast<int8_t*>(target);
  auto* from = static_cast<const int8_t*>(source);
  for (int64_t i = 0; i < bytes - kVector; i += kVector) memcpy(to + i, from + i, kVector);
  memcpy(to + bytes - kVector, from + bytes - kVector, kVector);
}

#endif

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SIMD_COPY_BYTES_H_
