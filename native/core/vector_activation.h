// Activations on vectors: what activation.h says of single floats. The header of an instruction set (vector_*.h) goes
// before this one.
//
// A kernel whose result is in memory calls ActivateAll, which chooses the function once and is there once per
// instruction set; one that holds a vector in a register calls ActivateVec, which chooses for each.
#ifndef LATHE_CORE_VECTOR_ACTIVATION_H_
#define LATHE_CORE_VECTOR_ACTIVATION_H_

#include "native/core/activation.h"
#include "native/core/vector_math.h"

namespace lathe {
inline namespace LATHE_VECTORS {

// Applies the activation in place. isa/vector_activation__<set>.cc
void ActivateAll(const Activation& activation, float* values, int64_t count);

}  // namespace LATHE_VECTORS
namespace {

inline Vec Clip(Vec x, Vec low, Vec high) { return AtLeast(AtMost(x, high), low); }
inline Vec HardSigmoid(Vec x, Vec alpha, Vec beta) { return Clip(MulAdd(x, alpha, beta), Fill(0.0f), Fill(1.0f)); }
inline Vec HardSwish(Vec x) { return Mul(x, HardSigmoid(x, Fill(1.0f / 6.0f), Fill(0.5f))); }
inline Vec Swish(Vec x) { return Mul(x, Sigmoid(x)); }
inline Vec LeakyRelu(Vec x, Vec alpha) { return Choose(Less(x, Fill(0.0f)), Mul(alpha, x), x); }
inline Vec Elu(Vec x, Vec alpha) {
  const Vec zero = Fill(0.0f);
  return Choose(Less(x, zero), Mul(alpha, Expm1OfNegative(AtMost(x, zero))), x);
}

// Calls `f(function)` with the activation as a function of a vector.
template <typename F>
inline void WithActivation(const Activation& activation, const F& f) {
  const Vec a = Fill(activation.alpha);
  const Vec b = Fill(activation.beta);
  switch (activation.kind) {
    case ActivationKind::kNone:
      return f([](Vec x) { return x; });
    case ActivationKind::kRelu:
      return f([](Vec x) { return AtLeast(x, Fill(0.0f)); });
    case ActivationKind::kClip:
      return f([a, b](Vec x) { return Clip(x, a, b); });
    case ActivationKind::kSigmoid:
      return f([](Vec x) { return Sigmoid(x); });
    case ActivationKind::kTanh:
      return f([](Vec x) { return Tanh(x); });
    case ActivationKind::kLeakyRelu:
      return f([a](Vec x) { return LeakyRelu(x, a); });
    case ActivationKind::kElu:
      return f([a](Vec x) { return Elu(x, a); });
    case ActivationKind::kHardSigmoid:
      return f([a, b](Vec x) { return HardSigmoid(x, a, b); });
    case ActivationKind::kHardSwish:
      return f([](Vec x) { return HardSwish(x); });
    case ActivationKind::kSwish:
      return f([](Vec x) { return Swish(x); });
  }
}

inline Vec ActivateVec(const Activation& activation, Vec x) {
  WithActivation(activation, [&x](const auto& function) { x = function(x); });
  return x;
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_VECTOR_ACTIVATION_H_
