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

// x = n * ln 2 + r with whole n and |r| <= ln 2 / 2: both, and e^r - 1.
struct ExpParts {
  Vec n;
  Vec rest;
};

inline ExpParts SplitExp(Vec x) {
  const Vec n = Round(Mul(x, Fill(1.44269504f)));
  // ln 2 in two floats: products of n with the first, which has 15 bits, are exact.
  const Vec r = MulAdd(n, Fill(-1.42860677e-6f), MulAdd(n, Fill(-0.693145752f), x));
  Vec sum = MulAdd(Fill(0.00138825207f), r, Fill(0.008366547067f));
  sum = MulAdd(sum, r, Fill(0.04166720065f));
  sum = MulAdd(sum, r, Fill(0.1666654342f));
  sum = MulAdd(sum, r, Fill(0.4999999815f));
  return {n, MulAdd(Mul(sum, r), r, r)};
}

inline Vec Exp(Vec x) {
  const ExpParts parts = SplitExp(AtMost(AtLeast(x, Fill(-105.0f)), Fill(89.0f)));  // 0 and infinity at the ends
  return TimesPowerOfTwo(Add(parts.rest, Fill(1.0f)), parts.n);
}

// e^x - 1 for x <= 0, without cancellation.
inline Vec Expm1OfNegative(Vec x) {
  const ExpParts parts = SplitExp(AtLeast(x, Fill(-40.0f)));
  const Vec power = TimesPowerOfTwo(Fill(1.0f), parts.n);
  return MulAdd(power, parts.rest, Sub(power, Fill(1.0f)));
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
  const Vec lost = Exp(LogOfErfc(Mul(size, Fill(0.707106781f))));
  return Sub(AtLeast(x, Fill(0.0f)),
             Mul(Mul(AtMost(size, Fill(32.0f)), Fill(0.5f)), lost));  // behind 32 nothing is lost
}

inline Vec Sigmoid(Vec x) {
  const Vec one = Fill(1.0f);
  return Div(one, Add(one, Exp(Sub(Fill(0.0f), x))));
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
