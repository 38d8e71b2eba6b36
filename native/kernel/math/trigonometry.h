// Sine, cosine and tangent of doubles of any size, within a few ulp.
#ifndef LATHE_KERNEL_MATH_TRIGONOMETRY_H_
#define LATHE_KERNEL_MATH_TRIGONOMETRY_H_

#include "native/kernel/math/math64.h"

namespace lathe {
namespace {

// An angle as quadrant * pi/2 + rest, with |rest| <= pi/4 and 0 <= quadrant < 4.
struct Angle {
  int quadrant;
  double rest;
};

// 64 bits of a number of 32-bit limbs, the lowest first, from bit `low` on.
inline uint64_t BitsFrom(const uint32_t* limbs, int low) {
  const int limb = low / 32;
  const int shift = low % 32;
  const uint64_t pair = limbs[limb] | static_cast<uint64_t>(limbs[limb + 1]) << 32;
  return shift == 0 ? pair : pair >> shift | static_cast<uint64_t>(limbs[limb + 2]) << (64 - shift);
}

// The method of Payne and Hanek: of x * 2/pi only the bits around the binary point matter, and they follow from x's
// mantissa and the bits of 2/pi around x's exponent. For finite x >= 2^20.
inline Angle ReduceLarge(double x) {
  static constexpr uint32_t kTwoOverPi[] = {
      0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
      0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
      0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
      0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
      0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d};
  constexpr int kWords = 7;
  const uint64_t bits = BitsOf(x);
  const int exponent = static_cast<int>(bits >> 52) - 1075;  // x = mantissa * 2^exponent
  const uint64_t mantissa = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
  const int first = exponent < 34 ? 0 : (exponent - 2) / 32;  // words before it add multiples of 4
  const int shift = exponent - 32 * first;                    // the product is limbs * 2^(shift - 32 * kWords)
  uint32_t limbs[kWords + 4] = {};
  for (int half = 0; half < 2; ++half) {
    const uint64_t factor = mantissa >> (32 * half) & 0xffffffffu;
    uint64_t carry = 0;
    for (int i = 0; i < kWords; ++i) {
      carry += factor * kTwoOverPi[first + kWords - 1 - i] + limbs[i + half];
      limbs[i + half] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    limbs[kWords + half] = static_cast<uint32_t>(carry);
  }
  // 128 bits, of which the upper two are the whole part modulo 4.
  const int top = 32 * kWords - shift + 2;
  const uint64_t high = BitsFrom(limbs, top - 64);
  const uint64_t low = BitsFrom(limbs, top - 128);
  const uint64_t fraction = high << 2 | low >> 62;
  const int whole = static_cast<int>(high >> 62);
  // As a signed number: from one half on the fraction counts down from the next quadrant.
  const double turn = static_cast<double>(static_cast<int64_t>(fraction)) * 5.421010862427522e-20 +
                      static_cast<double>(low << 2) * 2.938735877055719e-39;
  return {(whole + static_cast<int>(fraction >> 63)) & 3, turn * kHalfPiHigh};
}

// For finite x.
inline Angle ReduceAngle(double x) {
  constexpr double kRound = 6755399441055744.0;  // adding it rounds to an integer
  if (Abs64(x) < 1048576.0) {
    // Three parts of pi/2, of which the first two have 33 bits: their multiples by n < 2^20 are exact.
    const double n = (x * (1.0 / kHalfPiHigh) + kRound) - kRound;
    const double rest = ((x - n * 1.5707963267341256) - n * 6.077100506303966e-11) - n * 2.0222662487959506e-21;
    return {static_cast<int>(n) & 3, rest};
  }
  const Angle angle = ReduceLarge(Abs64(x));
  return x < 0 ? Angle{-angle.quadrant & 3, -angle.rest} : angle;
}

// For |x| <= pi/4.
inline double SinNear0(double x) {
  const double t = x * x;
  double sum = 1.0 / 355687428096000.0;
  sum = sum * t - 1.0 / 1307674368000.0;
  sum = sum * t + 1.0 / 6227020800.0;
  sum = sum * t - 1.0 / 39916800.0;
  sum = sum * t + 1.0 / 362880.0;
  sum = sum * t - 1.0 / 5040.0;
  sum = sum * t + 1.0 / 120.0;
  sum = sum * t - 1.0 / 6.0;
  return x + x * t * sum;
}

inline double CosNear0(double x) {
  const double t = x * x;
  double sum = 1.0 / 20922789888000.0;
  sum = sum * t - 1.0 / 87178291200.0;
  sum = sum * t + 1.0 / 479001600.0;
  sum = sum * t - 1.0 / 3628800.0;
  sum = sum * t + 1.0 / 40320.0;
  sum = sum * t - 1.0 / 720.0;
  sum = sum * t + 1.0 / 24.0;
  return 1.0 - (0.5 * t - t * t * sum);
}

// The sine of an angle and `ahead` quarters of a turn.
inline double SinOf(const Angle& angle, int ahead) {
  const int quadrant = (angle.quadrant + ahead) & 3;
  const double size = (quadrant & 1) != 0 ? CosNear0(angle.rest) : SinNear0(angle.rest);
  return (quadrant & 2) != 0 ? -size : size;
}

inline bool IsFinite(double x) { return Abs64(x) < HUGE_VAL; }

inline double Sin64(double x) {
  if (!IsFinite(x)) return kNaN;
  return x == 0.0 ? x : SinOf(ReduceAngle(x), 0);
}

inline double Cos64(double x) { return IsFinite(x) ? SinOf(ReduceAngle(x), 1) : kNaN; }

inline double Tan64(double x) {
  if (!IsFinite(x)) return kNaN;
  if (x == 0.0) return x;
  const Angle angle = ReduceAngle(x);
  return SinOf(angle, 0) / SinOf(angle, 1);
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_MATH_TRIGONOMETRY_H_
