// Elementary functions on double, within a few ulp over the whole range: what kernels of f64 need, and rounded to float
// the true value but for the rarest ties.
//
// As in math.h nothing of libm is used whose symbol version or result depends on the machine. The exponential and the
// logarithm of math.h are faster and exact to 1e-11 only, which is enough for float.
#ifndef LATHE_KERNEL_MATH_MATH64_H_
#define LATHE_KERNEL_MATH_MATH64_H_

#include "native/kernel/math/math.h"

namespace lathe {
namespace {

constexpr double kHalfPiHigh = 1.5707963267948966;
constexpr double kHalfPiLow = 6.123233995736766e-17;
constexpr double kNaN = static_cast<double>(NAN);

inline double Abs64(double x) { return __builtin_fabs(x); }

// 2^n for -1022 <= n <= 1023.
inline double PowerOfTwo(int64_t n) { return DoubleOf(static_cast<uint64_t>(n + 1023) << 52); }

// e^x - 1 for |x| <= 0.35 by the series.
inline double Expm1Near0(double x) {
  double sum = 1.0 / 6227020800.0;
  sum = sum * x + 1.0 / 479001600.0;
  sum = sum * x + 1.0 / 39916800.0;
  sum = sum * x + 1.0 / 3628800.0;
  sum = sum * x + 1.0 / 362880.0;
  sum = sum * x + 1.0 / 40320.0;
  sum = sum * x + 1.0 / 5040.0;
  sum = sum * x + 1.0 / 720.0;
  sum = sum * x + 1.0 / 120.0;
  sum = sum * x + 1.0 / 24.0;
  sum = sum * x + 1.0 / 6.0;
  sum = sum * x + 0.5;
  return x + x * x * sum;
}

inline double Exp64(double x) {
  if (x != x) return x;
  if (x > 710.0) return HUGE_VAL;
  if (x < -746.0) return 0.0;
  const double n = static_cast<double>(static_cast<int64_t>(x * (1.0 / kLn2) + (x < 0 ? -0.5 : 0.5)));
  const double r = (x - n * 0.6931471803691238) - n * 1.9082149292705877e-10;
  const int64_t whole = static_cast<int64_t>(n);
  const int64_t half = whole / 2;  // in two steps: 2^n may be subnormal or beyond the largest number
  return (1.0 + Expm1Near0(r)) * PowerOfTwo(half) * PowerOfTwo(whole - half);
}

inline double Expm164(double x) { return Abs64(x) <= 0.35 ? Expm1Near0(x) : Exp64(x) - 1.0; }

// log((1 + s) / (1 - s)) for |s| <= 0.172.
inline double LogOfRatio64(double s) {
  const double t = s * s;
  double sum = 1.0 / 21.0;
  sum = sum * t + 1.0 / 19.0;
  sum = sum * t + 1.0 / 17.0;
  sum = sum * t + 1.0 / 15.0;
  sum = sum * t + 1.0 / 13.0;
  sum = sum * t + 1.0 / 11.0;
  sum = sum * t + 1.0 / 9.0;
  sum = sum * t + 1.0 / 7.0;
  sum = sum * t + 1.0 / 5.0;
  sum = sum * t + 1.0 / 3.0;
  return 2.0 * s + 2.0 * s * t * sum;
}

inline double Log64(double x) {
  if (!(x > 0.0)) return x == 0.0 ? -HUGE_VAL : kNaN;
  if (x == HUGE_VAL) return x;
  constexpr uint64_t kSqrtHalf = 0x3fe6a09e667f3bcdull;
  const bool subnormal = x < 2.2250738585072014e-308;
  if (subnormal) x *= 18014398509481984.0;  // 2^54
  const uint64_t offset = BitsOf(x) - kSqrtHalf;
  const int64_t exponent = static_cast<int64_t>(offset) >> 52;
  const double m = DoubleOf(BitsOf(x) - (static_cast<uint64_t>(exponent) << 52));
  const double n = static_cast<double>(subnormal ? exponent - 54 : exponent);
  return n * 0.6931471803691238 + (n * 1.9082149292705877e-10 + LogOfRatio64((m - 1.0) / (m + 1.0)));
}

inline double Log1p64(double x) { return Abs64(x) < 0.3 ? LogOfRatio64(x / (2.0 + x)) : Log64(1.0 + x); }

inline double Sigmoid64(double x) { return x < 0 ? Exp64(x) / (1.0 + Exp64(x)) : 1.0 / (1.0 + Exp64(-x)); }

inline double Softplus64(double x) {
  if (x != x) return x;
  return (x > 0 ? x : 0.0) + Log1p64(Exp64(-Abs64(x)));
}

inline double Sinh64(double x) {
  const double size = Abs64(x);
  if (size < 1.0) {
    const double t = x * x;
    double sum = 1.0 / 355687428096000.0;
    sum = sum * t + 1.0 / 1307674368000.0;
    sum = sum * t + 1.0 / 6227020800.0;
    sum = sum * t + 1.0 / 39916800.0;
    sum = sum * t + 1.0 / 362880.0;
    sum = sum * t + 1.0 / 5040.0;
    sum = sum * t + 1.0 / 120.0;
    sum = sum * t + 1.0 / 6.0;
    return x + x * t * sum;
  }
  const double root = Exp64(size * 0.5);  // e^size itself overflows before its half does
  const double result = size > 40.0 ? 0.5 * root * root : 0.5 * (Exp64(size) - Exp64(-size));
  return x < 0 ? -result : result;
}

inline double Cosh64(double x) {
  const double size = Abs64(x);
  if (size > 40.0) {
    const double root = Exp64(size * 0.5);
    return 0.5 * root * root;
  }
  return 0.5 * (Exp64(size) + Exp64(-size));
}

inline double Tanh64(double x) {
  const double size = Abs64(x);
  if (size > 22.0) return x < 0 ? -1.0 : 1.0;
  if (x != x) return x;
  const double less = Expm164(2.0 * size);
  const double result = less / (less + 2.0);
  return x < 0 ? -result : result;
}

inline double Asinh64(double x) {
  const double size = Abs64(x);
  double result = 0.0;
  if (size > 1e9) {
    result = Log64(size) + kLn2;
  } else {
    const double square = size * size;
    result = Log1p64(size + square / (1.0 + __builtin_sqrt(1.0 + square)));
  }
  if (size != size || size == 0.0) return x;
  return x < 0 ? -result : result;
}

inline double Acosh64(double x) {
  if (!(x >= 1.0)) return kNaN;
  if (x > 1e9) return Log64(x) + kLn2;
  const double over = x - 1.0;
  return Log1p64(over + __builtin_sqrt(over * (over + 2.0)));
}

inline double Atanh64(double x) {
  if (Abs64(x) <= 0.17) return 0.5 * LogOfRatio64(x);
  const double size = Abs64(x);
  if (!(size <= 1.0)) return kNaN;
  const double result = 0.5 * Log64((1.0 + size) / (1.0 - size));
  return x < 0 ? -result : result;
}

// The arctangent for 0 <= x <= 1: around 0, 0.4 or 0.8 by the series, whose argument stays within 0.2.
inline double AtanUnit(double x) {
  const double center = x < 0.2 ? 0.0 : (x < 0.6 ? 0.4 : 0.8);
  const double base = x < 0.2 ? 0.0 : (x < 0.6 ? 0.3805063771123649 : 0.6747409422235527);
  const double s = (x - center) / (1.0 + x * center);
  const double t = s * s;
  double sum = -1.0 / 23.0;
  sum = sum * t + 1.0 / 21.0;
  sum = sum * t - 1.0 / 19.0;
  sum = sum * t + 1.0 / 17.0;
  sum = sum * t - 1.0 / 15.0;
  sum = sum * t + 1.0 / 13.0;
  sum = sum * t - 1.0 / 11.0;
  sum = sum * t + 1.0 / 9.0;
  sum = sum * t - 1.0 / 7.0;
  sum = sum * t + 1.0 / 5.0;
  sum = sum * t - 1.0 / 3.0;
  return base + (s + s * t * sum);
}

inline double Atan64(double x) {
  const double size = Abs64(x);
  if (x != x) return x;
  const double result = size <= 1.0 ? AtanUnit(size) : kHalfPiHigh - (AtanUnit(1.0 / size) - kHalfPiLow);
  return BitsOf(x) >> 63 != 0 ? -result : result;
}

inline double Asin64(double x) { return Atan64(x / __builtin_sqrt((1.0 - x) * (1.0 + x))); }

inline double Acos64(double x) { return 2.0 * Atan64(__builtin_sqrt((1.0 - x) / (1.0 + x))); }

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_MATH_MATH64_H_
