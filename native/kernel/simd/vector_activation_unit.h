// Compiled once for each instruction set: native/kernel/units.yaml.
#ifndef LATHE_KERNEL_SIMD_VECTOR_ACTIVATION_UNIT_H_
#define LATHE_KERNEL_SIMD_VECTOR_ACTIVATION_UNIT_H_

#include "native/kernel/simd/simd.h"
#include "native/kernel/simd/vector_activation.h"
#include "native/kernel/simd/vector_functions.h"

namespace lathe {
namespace {

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

}  // namespace

inline namespace LATHE_ISA {

void ActivateRows(const Activation& activation, Element* values, int64_t rows, int64_t step, int64_t count) {
  if (activation.kind == ActivationKind::kNone) return;
  if (step == count) {
    count *= rows;
    rows = 1;
  }
  WithActivation(activation, [=](const auto& function) {
    Element* row = values;
    for (int64_t i = 0; i < rows; ++i, row += step) MapVectorsShortly(row, row, count, function);
  });
}

}  // namespace LATHE_ISA
}  // namespace lathe

#endif  // LATHE_KERNEL_SIMD_VECTOR_ACTIVATION_UNIT_H_
