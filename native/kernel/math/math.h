// Elementary functions on float, for kernels.
//
// Libm's expf, logf and powf carry symbol versions newer than the oldest C library we support, and differ from machine
// to machine. These are computed in double by polynomials, are within 1 ulp of the true value after rounding, know
// infinities, NaN and denormals, and give the same bits everywhere (the build turns contraction off).
//
// Like all helpers of kernels this file has internal linkage: the same function is compiled for several instruction
// sets, and the linker must not pick one of them for all.
#ifndef LATHE_KERNEL_MATH_MATH_H_
#define LATHE_KERNEL_MATH_MATH_H_

#include <math.h>
#include <stdint.h>
#include <string.h>

namespace lathe {
namespace {

constexpr double kLn2 = 0.693147180559945309417;

inline uint64_t BitsOf(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline double DoubleOf(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// e^x with a relative error below 1e-11 for |x| <= 700; beyond that e^+-700, which is out of the range of float.
inline double Exp(double x) {
  constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer, held in the low bits
  x = x < -700.0 ? -700.0 : (x > 700.0 ? 700.0 : x);
  const double shifted = x * (1.0 / kLn2) + kRound;
  const double r = x - (shifted - kRound) * kLn2;
  double sum = 1.0 / 362880;
  sum = sum * r + 1.0 / 40320;
  sum = sum * r + 1.0 / 5040;
  sum = sum * r + 1.0 / 720;
  sum = sum * r + 1.0 / 120;
  sum = sum * r + 1.0 / 24;
  sum = sum * r + 1.0 / 6;
  sum = sum * r + 0.5;
  sum = sum * r + 1.0;
  sum = sum * r + 1.0;
  return sum * DoubleOf((BitsOf(shifted) + 1023) << 52);  // times 2^n
}

// log((1 + s) / (1 - s)), relative error below 1e-12 for |s| <= 0.172.
inline double LogOfRatio(double s) {
  const double t = s * s;
  double sum = 1.0 / 15;
  sum = sum * t + 1.0 / 13;
  sum = sum * t + 1.0 / 11;
  sum = sum * t + 1.0 / 9;
  sum = sum * t + 1.0 / 7;
  sum = sum * t + 1.0 / 5;
  sum = sum * t + 1.0 / 3;
  sum = sum * t + 1.0;
  return 2.0 * s * sum;
}

// log x for x that are zero or normal doubles (all floats are).
inline double Log(double x) {
  if (!(x > 0.0)) return x == 0.0 ? -HUGE_VAL : static_cast<double>(NAN);
  if (x == HUGE_VAL) return x;
  constexpr uint64_t kSqrtHalf = 0x3fe6a09e667f3bcdull;
  const uint64_t offset = BitsOf(x) - kSqrtHalf;
  const int64_t exponent = static_cast<int64_t>(offset) >> 52;
  const double m = DoubleOf(BitsOf(x) - (static_cast<uint64_t>(exponent) << 52));  // in [sqrt(1/2), sqrt(2))
  return static_cast<double>(exponent) * kLn2 + LogOfRatio((m - 1.0) / (m + 1.0));
}

// log(1 + x) for x >= 0.
inline double Log1p(double x) { return x < 0.4 ? LogOfRatio(x / (2.0 + x)) : Log(1.0 + x); }

inline float Expf(float x) { return static_cast<float>(Exp(x)); }

inline float Logf(float x) { return static_cast<float>(Log(x)); }

inline double Sigmoid(double x) { return 1.0 / (1.0 + Exp(-x)); }

inline float Sigmoidf(float x) { return static_cast<float>(Sigmoid(x)); }

inline double Tanh(double x) {
  const double t = x * x;
  if (t < 0.0025) return x * (1.0 - t * (1.0 / 3 - t * (2.0 / 15 - t * (17.0 / 315))));
  return 1.0 - 2.0 / (Exp(2.0 * x) + 1.0);
}

inline float Tanhf(float x) { return static_cast<float>(Tanh(x)); }

// log(1 + e^x) without overflow.
inline float Softplusf(float x) {
  const double wide = x;
  return static_cast<float>((wide > 0.0 ? wide : 0.0) + Log1p(Exp(wide > 0.0 ? -wide : wide)));
}

// e^x - 1 for x <= 0 without cancellation, as elu needs it.
inline float Expm1f(float x) {
  const double r = x;
  if (r > -0.03)
    return static_cast<float>(r * (1.0 + r * (1.0 / 2 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120))))));
  return static_cast<float>(Exp(r) - 1.0);
}

// erf(x)/x as a polynomial in x^2 for |x| < 1; erfc(x)*exp(x^2) as one in 1/(|x|+2) up to 4, where erf is 1 in float.
// Coefficients: own Chebyshev fits, relative errors 1e-12 and 3e-10.
inline double Erf(double x) {
  const double size = x < 0 ? -x : x;
  if (size < 1.0) {
    const double t = x * x;
    double sum = -1.0473172872461115e-07;
    sum = sum * t + 1.5308209222509726e-06;
    sum = sum * t - 1.4795376610067644e-05;
    sum = sum * t + 0.00012046296196226936;
    sum = sum * t - 0.0008547935790014067;
    sum = sum * t + 0.005223967264182526;
    sum = sum * t - 0.026866169064174012;
    sum = sum * t + 0.11283791658678406;
    sum = sum * t - 0.37612638902813333;
    return x * (sum * t + 1.1283791670954946);
  }
  if (size != size) return x;
  if (size > 4.0) return x < 0 ? -1.0 : 1.0;
  const double u = 1.0 / (size + 2.0);
  double sum = 3.3108295515523616;
  sum = sum * u + 8.77189079727805;
  sum = sum * u - 24.617343789992347;
  sum = sum * u + 15.354120087345326;
  sum = sum * u - 0.8606960365027998;
  sum = sum * u + 2.6315702760612805;
  sum = sum * u + 1.056430717311336;
  sum = sum * u + 0.5686515606081524;
  sum = sum * u - 0.00012040251782080569;
  const double result = 1.0 - sum * Exp(-x * x);
  return x < 0 ? -result : result;
}

inline float Erff(float x) { return static_cast<float>(Erf(x)); }

// x^y with the special cases of C's pow.
inline float Powf(float x, float y) {
  if (y == 0.0f || x == 1.0f) return 1.0f;
  if (x != x || y != y) return x + y;
  const float size = x < 0 ? -x : x;
  if (size == 1.0f && (y == HUGE_VALF || y == -HUGE_VALF)) return 1.0f;
  const double result = Exp(y * Log(size));
  const double limited = size == 0.0f || size == HUGE_VALF ? ((size == 0.0f) == (y < 0) ? HUGE_VAL : 0.0) : result;
  uint32_t sign;
  memcpy(&sign, &x, sizeof sign);
  if ((sign >> 31) == 0) return static_cast<float>(limited);
  const bool whole = floorf(y) == y;
  if (!whole) return size == 0.0f || size == HUGE_VALF ? static_cast<float>(limited) : NAN;
  const bool odd = floorf(y * 0.5f) != y * 0.5f;
  return static_cast<float>(odd ? -limited : limited);
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_MATH_MATH_H_
