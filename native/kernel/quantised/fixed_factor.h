// Factors as whole numbers, for instruction sets whose vectors have no floating-point numbers (requantise_hvx.h).
#ifndef LATHE_KERNEL_QUANTISED_FIXED_FACTOR_H_
#define LATHE_KERNEL_QUANTISED_FIXED_FACTOR_H_

#include <stdint.h>
#include <string.h>

namespace lathe {

constexpr int kDigits = 16;  // binary ones, behind the point

// sum * factor * 2^kDigits = (sum << shift) * mantissa / 2^31, but for the digits behind. Factors that take any sum but
// 0 out of range are as large as can be.
inline void SplitFactor(float factor, int32_t* shift, int32_t* mantissa) {
  constexpr int kMost = 13;
  int32_t bits;
  memcpy(&bits, &factor, sizeof bits);
  int exponent = (bits >> 23) - 127;
  if (exponent > kMost) exponent = kMost;
  const int left = kDigits + 1 + exponent, lost = left < 0 ? -left : 0;
  *shift = left < 0 ? 0 : left;
  *mantissa = lost > 30 ? 0 : (((bits & 0x7fffff) | 0x800000) << 7) >> lost;
}

}  // namespace lathe

#endif  // LATHE_KERNEL_QUANTISED_FIXED_FACTOR_H_
