// Widening of the two 16-bit float formats, in integer arithmetic that every machine has, or in one instruction where
// all machines of an architecture have that.
#ifndef LATHE_RUNTIME_HALF_H_
#define LATHE_RUNTIME_HALF_H_

#include <stdint.h>
#include <string.h>

namespace lathe {
namespace {

inline float FloatFromBits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

inline float FloatFromBf16(uint16_t bits) { return FloatFromBits(static_cast<uint32_t>(bits) << 16); }

#if defined(__aarch64__)
inline float FloatFromF16(uint16_t bits) {
  __fp16 value;
  memcpy(&value, &bits, sizeof(value));
  return static_cast<float>(value);
}
#else
inline float FloatFromF16(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(bits & 0x7fff) << 13;
  if (magnitude >= 0x0f800000) return FloatFromBits(sign | 0x70000000 | magnitude);  // infinite or not a number
  if (magnitude >= 0x00800000) return FloatFromBits(sign | (magnitude + 0x38000000));
  // Subnormal: exact as a product of an integer and 2^-24.
  const float value = static_cast<float>(bits & 0x7fff) * 5.9604644775390625e-8f;
  return sign != 0 ? -value : value;
}
#endif

}  // namespace
}  // namespace lathe

#endif  // LATHE_RUNTIME_HALF_H_
