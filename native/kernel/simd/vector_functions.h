// The functions behind activations on vectors: what activation.h says of single floats.
#ifndef LATHE_KERNEL_SIMD_VECTOR_FUNCTIONS_H_
#define LATHE_KERNEL_SIMD_VECTOR_FUNCTIONS_H_

#include "native/kernel/simd/simd.h"
#include "native/kernel/simd/vector_math.h"

namespace lathe {
namespace {

inline Vec Clip(Vec x, Vec low, Vec high) { return AtLeast(AtMost(x, high), low); }
inline Vec HardSigmoid(Vec x, Vec alpha, Vec beta) { return Clip(MulAdd(x, alpha, beta), Fill(0.0f), Fill(1.0f)); }
inline Vec HardSwish(Vec x) { return Mul(x, HardSigmoid(x, Fill(1.0f / 6.0f), Fill(0.5f))); }
inline Vec Swish(Vec x) { return Mul(AtLeast(x, Fill(kLowestNormal)), Sigmoid(x)); }
inline Vec LeakyRelu(Vec x, Vec alpha) { return Choose(Less(x, Fill(0.0f)), Mul(alpha, x), x); }
inline Vec Elu(Vec x, Vec alpha) {
  const Vec zero = Fill(0.0f);
  return Choose(Less(x, zero), Mul(alpha, Expm1OfNegative(AtMost(x, zero))), x);
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SIMD_VECTOR_FUNCTIONS_H_
