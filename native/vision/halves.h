// Floats as halves and as bytes, one by one.
#ifndef LATHE_VISION_HALVES_H_
#define LATHE_VISION_HALVES_H_

#include <stdint.h>
#include <string.h>

namespace lathe {
namespace vision {
namespace {

// Rounded to the nearest, halves to even.
inline uint16_t HalfOf(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const uint32_t size = bits & 0x7fffffff;
  if (size > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);
  if (size >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);
  if (size < 0x38800000) {  // subnormal: adding 0.5 leaves a multiple of 2^-24
    float shifted;
    memcpy(&shifted, &size, 4);
    shifted += 0.5f;
    uint32_t sum;
    memcpy(&sum, &shifted, 4);
    return static_cast<uint16_t>(sign | (sum - 0x3f000000));
  }
  const uint32_t odd = (size >> 13) & 1;
  return static_cast<uint16_t>(sign | ((size - 0x38000000 + 0xfff + odd) >> 13));
}

inline uint8_t RoundedByte(float value, float low, float high) {
  const float within = value < low ? low : (value > high ? high : (value == value ? value : low));
  const float large = 12582912.0f;  // 1.5 * 2^23: the sum has no fraction
  const float sum = within + large;
  int32_t a, b;
  memcpy(&a, &sum, 4);
  memcpy(&b, &large, 4);
  return static_cast<uint8_t>(a - b);
}

}  // namespace
}  // namespace vision
}  // namespace lathe

#endif  // LATHE_VISION_HALVES_H_
