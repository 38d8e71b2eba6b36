// Elementary functions of vectors of floats.
//
// All hand NaN through. Where the result is a normal number the exponentials are within 1.1 ulp, the others within 3
// (4 on 32 bit ARM); coefficients are own fits. A lane's result depends on that lane alone, so that ends of rows
// need no other formula.
#ifndef LATHE_KERNEL_SIMD_VECTOR_MATH_H_
#define LATHE_KERNEL_SIMD_VECTOR_MATH_H_

#include "native/kernel/simd/simd.h"
#include "native/kernel/simd/vector_map.h"

namespace lathe {
namespace {

// x = n * ln 2 + r with whole n and |r| <= ln 2 / 2: n, 2^n where that is a normal number, and e^r - 1.
struct ExpParts {
  Vec n;
  Vec power;
  Vec rest;
};

inline ExpParts SplitExp(Vec x) {
  // A float of this size has no room for fractions, and its lowest bits are the exponent of 2^n.
  const Vec shift = Fill(12582912.0f + 127.0f);
  const Vec shifted = MulAdd(x, Fill(1.44269504f), shift);
  const Vec n = Sub(shifted, shift);
  // ln 2 in two floats: products of n with the first, which has 15 bits, are exact.
  const Vec r = MulAdd(n, Fill(-1.42860677e-6f), MulAdd(n, Fill(-0.693145752f), x));
  Vec sum = MulAdd(Fill(0.00138825207f), r, Fill(0.008366547067f));
  sum = MulAdd(sum, r, Fill(0.04166720065f));
  sum = MulAdd(sum, r, Fill(0.1666654342f));
  sum = MulAdd(sum, r, Fill(0.4999999815f));
  return {n, WithExponent(shifted), MulAdd(Mul(sum, r), r, r)};
}

inline Vec Exp(Vec x) {
  const ExpParts parts = SplitExp(AtMost(AtLeast(x, Fill(-105.0f)), Fill(89.0f)));  // 0 and infinity at the ends
  return TimesPowerOfTwo(Add(parts.rest, Fill(1.0f)), parts.n);
}

// The same for x up to 88, but never less than the smallest normal number.
constexpr float kLowestNormal = -87.336f;
inline Vec ExpToNormal(Vec x) {
  const ExpParts parts = SplitExp(AtLeast(x, Fill(kLowestNormal)));
  return MulAdd(parts.rest, parts.power, parts.power);
}

// The same for x <= 0, but 0 below 0.7 of the smallest normal number.
inline Vec ExpOfNegative(Vec x) {
  const ExpParts parts = SplitExp(AtLeast(x, Fill(-88.03f)));
  return MulAdd(parts.rest, parts.power, parts.power);
}

// e^x - 1 for x <= 0, without cancellation.
inline Vec Expm1OfNegative(Vec x) {
  const ExpParts parts = SplitExp(AtLeast(x, Fill(-40.0f)));
  return MulAdd(parts.power, parts.rest, Sub(parts.power, Fill(1.0f)));
}

// log(1 - erf(size)) for size >= 0: one polynomial, which falls for ever.
inline Vec LogOfErfc(Vec size) {
  Vec sum = MulAdd(Fill(-1.19380695e-6f), size, Fill(2.13598953e-5f));
  sum = MulAdd(sum, size, Fill(-0.000167503616f));
  sum = MulAdd(sum, size, Fill(0.000740737362f));
  sum = MulAdd(sum, size, Fill(-0.0017994212f));
  sum = MulAdd(sum, size, Fill(0.000253112602f));
  sum = MulAdd(sum, size, Fill(0.0191176725f));
  sum = MulAdd(sum, size, Fill(-0.102771272f));
  sum = MulAdd(sum, size, Fill(-0.636619835f));
  sum = MulAdd(sum, size, Fill(-1.12837917f));
  return Mul(sum, size);
}

inline Vec Erf(Vec x) {
  const Vec falling = Expm1OfNegative(LogOfErfc(Abs(x)));
  return WithSign(Sub(Fill(0.0f), falling), x);
}

// x times the normal distribution of x. Without 1 + erf, which cancels on the left.
inline Vec Gelu(Vec x) {
  const Vec size = Abs(x);
  const Vec lost = ExpToNormal(LogOfErfc(Mul(size, Fill(0.707106781f))));
  return Sub(AtLeast(x, Fill(0.0f)),
             Mul(Mul(AtMost(size, Fill(32.0f)), Fill(0.5f)), lost));  // behind 32 nothing is lost
}

// Not less than the smallest normal number.
inline Vec Sigmoid(Vec x) {
  const Vec power = ExpToNormal(AtMost(x, Fill(40.0f)));  // where the quotient is 1 already
  return Div(power, Add(power, Fill(1.0f)));
}

inline Vec Tanh(Vec x) {
  const Vec falling = Expm1OfNegative(Mul(Abs(x), Fill(-2.0f)));
  return WithSign(Div(Sub(Fill(0.0f), falling), Add(falling, Fill(2.0f))), x);
}

// The approximation of the above with tanh: 1 + tanh(u) is twice the sigmoid of 2u.
inline Vec GeluByTanh(Vec x) {
  const Vec cube = Mul(Mul(x, x), x);
  const Vec curve = Mul(MulAdd(cube, Fill(0.044715f), x), Fill(1.59576912f));  // sqrt(8 / pi)
  return Mul(x, Sigmoid(curve));
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SIMD_VECTOR_MATH_H_
