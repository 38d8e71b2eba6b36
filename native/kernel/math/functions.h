// Elementary functions under one name for float and double, for kernels that serve several element types.
#ifndef LATHE_KERNEL_MATH_FUNCTIONS_H_
#define LATHE_KERNEL_MATH_FUNCTIONS_H_

#include "native/kernel/math/activation.h"
#include "native/kernel/math/trigonometry.h"

namespace lathe {
namespace {

#define LATHE_FUNCTION(name, single, wide)      \
  inline float name(float x) { return single; } \
  inline double name(double x) { return wide; }
LATHE_FUNCTION(SinOf, static_cast<float>(Sin64(x)), Sin64(x))
LATHE_FUNCTION(CosOf, static_cast<float>(Cos64(x)), Cos64(x))
LATHE_FUNCTION(TanOf, static_cast<float>(Tan64(x)), Tan64(x))
LATHE_FUNCTION(AsinOf, static_cast<float>(Asin64(x)), Asin64(x))
LATHE_FUNCTION(AcosOf, static_cast<float>(Acos64(x)), Acos64(x))
LATHE_FUNCTION(AtanOf, static_cast<float>(Atan64(x)), Atan64(x))
LATHE_FUNCTION(SinhOf, static_cast<float>(Sinh64(x)), Sinh64(x))
LATHE_FUNCTION(CoshOf, static_cast<float>(Cosh64(x)), Cosh64(x))
LATHE_FUNCTION(AsinhOf, static_cast<float>(Asinh64(x)), Asinh64(x))
LATHE_FUNCTION(AcoshOf, static_cast<float>(Acosh64(x)), Acosh64(x))
LATHE_FUNCTION(AtanhOf, static_cast<float>(Atanh64(x)), Atanh64(x))
LATHE_FUNCTION(TanhOf, Tanhf(x), Tanh64(x))
LATHE_FUNCTION(ExpOf, Expf(x), Exp64(x))
LATHE_FUNCTION(Expm1Of, static_cast<float>(Expm164(x)), Expm164(x))
LATHE_FUNCTION(LogOf, Logf(x), Log64(x))
LATHE_FUNCTION(SigmoidOf, Sigmoidf(x), Sigmoid64(x))
LATHE_FUNCTION(SoftplusOf, Softplusf(x), Softplus64(x))
LATHE_FUNCTION(ErfOf, Erff(x), Erf(x))
LATHE_FUNCTION(SqrtOf, __builtin_sqrtf(x), __builtin_sqrt(x))
LATHE_FUNCTION(AbsOf, __builtin_fabsf(x), __builtin_fabs(x))
LATHE_FUNCTION(FloorOf, __builtin_floorf(x), __builtin_floor(x))
LATHE_FUNCTION(CeilOf, __builtin_ceilf(x), __builtin_ceil(x))
#undef LATHE_FUNCTION

// The nearest whole number, ties to the even one: what has no room for a fraction rounds so by itself.
inline float RoundOf(float x) {
  const float size = AbsOf(x);
  return size < 8388608.0f ? __builtin_copysignf((size + 8388608.0f) - 8388608.0f, x) : x;
}
inline double RoundOf(double x) {
  const double size = AbsOf(x);
  return size < 4503599627370496.0 ? __builtin_copysign((size + 4503599627370496.0) - 4503599627370496.0, x) : x;
}

// As the functions of activation.h, for any type of numbers.
template <typename C>
inline C ReluOf(C x) {
  return x < C(0) ? C(0) : x;
}
template <typename C>
inline C ClipOf(C x, C low, C high) {
  const C lowered = x > high ? high : x;
  return lowered < low ? low : lowered;
}
template <typename C>
inline C LeakyReluOf(C x, float alpha) {
  return x < C(0) ? static_cast<C>(alpha) * x : x;
}
template <typename C>
inline C EluOf(C x, float alpha) {
  return x < C(0) ? static_cast<C>(alpha) * Expm1Of(x) : x;
}
template <typename C>
inline C HardSigmoidOf(C x, C alpha, C beta) {
  return ClipOf<C>(alpha * x + beta, C(0), C(1));
}
template <typename C>
inline C HardSwishOf(C x) {
  return x * HardSigmoidOf<C>(x, C(1) / C(6), C(0.5));
}
template <typename C>
inline C SwishOf(C x) {
  return x * SigmoidOf(x);
}

// One value through the activation that is fused into an operator.
template <typename C>
inline C Activated(const Activation& activation, C x) {
  const C a = static_cast<C>(activation.alpha);
  const C b = static_cast<C>(activation.beta);
  switch (activation.kind) {
    case ActivationKind::kNone:
      return x;
    case ActivationKind::kRelu:
      return ReluOf(x);
    case ActivationKind::kClip:
      return ClipOf<C>(x, a, b);
    case ActivationKind::kSigmoid:
      return SigmoidOf(x);
    case ActivationKind::kTanh:
      return TanhOf(x);
    case ActivationKind::kLeakyRelu:
      return LeakyReluOf(x, activation.alpha);
    case ActivationKind::kElu:
      return EluOf(x, activation.alpha);
    case ActivationKind::kHardSigmoid:
      return HardSigmoidOf<C>(x, a, b);
    case ActivationKind::kHardSwish:
      return HardSwishOf(x);
    case ActivationKind::kSwish:
      return SwishOf(x);
  }
  return x;
}

// x^y with the special cases of C's pow.
inline float PowOf(float x, float y) { return Powf(x, y); }
inline double PowOf(double x, double y) {
  if (y == 0.0 || x == 1.0) return 1.0;
  if (x != x || y != y) return x + y;
  const double size = AbsOf(x);
  if (size == 1.0 && AbsOf(y) == HUGE_VAL) return 1.0;
  const bool whole = FloorOf(y) == y;
  double result = 1.0;
  if (size == 0.0 || size == HUGE_VAL) {
    result = (size == 0.0) == (y < 0) ? HUGE_VAL : 0.0;
  } else if (whole && AbsOf(y) <= 64.0) {  // by products: the powers of whole numbers stay whole
    double factor = size;
    for (uint64_t left = static_cast<uint64_t>(AbsOf(y)); left != 0; left >>= 1) {
      if ((left & 1) != 0) result *= factor;
      factor *= factor;
    }
    result = y < 0 ? 1.0 / result : result;
  } else {
    result = Exp64(y * Log64(size));
  }
  if (BitsOf(x) >> 63 == 0) return result;
  if (!whole) return size == 0.0 || size == HUGE_VAL ? result : kNaN;
  return FloorOf(y * 0.5) != y * 0.5 ? -result : result;
}

// The exact remainder of a / b with the sign of a, as C's fmod, for finite a >= 0 and b > 0: long division of the
// mantissas.
inline double RemainderOfSizes(double a, double b) {
  if (a < b) return a;
  int exponent_a = static_cast<int>(BitsOf(a) >> 52);
  int exponent_b = static_cast<int>(BitsOf(b) >> 52);
  constexpr uint64_t kOne = uint64_t{1} << 52;
  uint64_t rest = (BitsOf(a) & (kOne - 1)) | (exponent_a == 0 ? 0 : kOne);
  const uint64_t divisor = (BitsOf(b) & (kOne - 1)) | (exponent_b == 0 ? 0 : kOne);
  exponent_a = exponent_a == 0 ? 1 : exponent_a;  // subnormal numbers have the exponent of the smallest normal one
  exponent_b = exponent_b == 0 ? 1 : exponent_b;
  rest %= divisor;
  for (int left = exponent_a - exponent_b; left > 0;) {
    const int step = left < 11 ? left : 11;  // a rest of 53 bits leaves room for 11
    rest = (rest << step) % divisor;
    left -= step;
  }
  // Exact: the rest is a number of the size of b. In two steps, since 2^power may be below the normal numbers.
  const int power = exponent_b - 1075;
  return static_cast<double>(rest) * PowerOfTwo(power / 2) * PowerOfTwo(power - power / 2);
}

inline double FmodOf(double a, double b) {
  if (!IsFinite(a) || b != b || b == 0.0) return kNaN;
  if (!IsFinite(b)) return a;
  return __builtin_copysign(RemainderOfSizes(AbsOf(a), AbsOf(b)), a);
}
inline float FmodOf(float a, float b) {
  return static_cast<float>(FmodOf(static_cast<double>(a), static_cast<double>(b)));
}

// a - floor(a / b) * b: the sign is that of b, of a zero too.
template <typename C>
inline C FlooredModOf(C a, C b) {
  const C rest = FmodOf(a, b);
  if (rest == C(0)) return b < C(0) ? -C(0) : C(0);
  return (rest < C(0)) != (b < C(0)) ? rest + b : rest;
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_MATH_FUNCTIONS_H_
