// The activation that is fused into an operator: attributes `activation`, `activation_alpha`, `activation_beta`.
#ifndef LATHE_KERNEL_MATH_ACTIVATION_H_
#define LATHE_KERNEL_MATH_ACTIVATION_H_

#include "native/kernel/check.h"
#include "native/kernel/math/activations.h"
#include "native/kernel/math/math.h"
#include "native/runtime/kernel.h"

namespace lathe {

// The attributes `activation`, `activation_alpha` and `activation_beta` of a node.
Code ReadActivation(const PrepareContext& context, Activation* activation);

// The same of a part of a node: the names of its three attributes.
Code ReadActivation(const PrepareContext& context, const char* const (&names)[3], Activation* activation);

// For kernels of integers, which know no activation.
Code RequireNoActivation(const PrepareContext& context);

namespace {

// The functions themselves; operators of the same names use them too. All hand NaN through.
inline float Relu(float x) { return x < 0.0f ? 0.0f : x; }
inline float Clip(float x, float low, float high) {
  const float lowered = x > high ? high : x;
  return lowered < low ? low : lowered;
}
inline float LeakyRelu(float x, float alpha) { return x < 0.0f ? alpha * x : x; }
inline float Elu(float x, float alpha) { return x < 0.0f ? alpha * Expm1f(x) : x; }
inline float HardSigmoid(float x, float alpha, float beta) { return Clip(alpha * x + beta, 0.0f, 1.0f); }
inline float HardSwish(float x) { return x * HardSigmoid(x, 1.0f / 6.0f, 0.5f); }
inline float Swish(float x) { return x * Sigmoidf(x); }

// Applies the activation in place.
inline void Activate(const Activation& activation, float* values, int64_t count) {
  ActivateRowsOf(lathe_activations__float, activation, values, 1, count, count);
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_MATH_ACTIVATION_H_
