// Compiled once for each instruction set: native/kernel/units.yaml.
#ifndef LATHE_KERNEL_SIMD_VECTOR_ACTIVATION_UNIT_H_
#define LATHE_KERNEL_SIMD_VECTOR_ACTIVATION_UNIT_H_

#include "native/kernel/simd/simd.h"
#include "native/kernel/simd/vector_activation.h"
#include "native/kernel/simd/vector_functions.h"

#define LATHE_DECLARE_ACTIVATIONS_OF(isa) LATHE_DECLARE_ACTIVATIONS(isa)
#define LATHE_ALL_ACTIVATIONS_OF(isa) LATHE_ALL_ACTIVATIONS(isa)

LATHE_DECLARE_ACTIVATIONS_OF(LATHE_ISA)

extern "C" __attribute__((weak))
const lathe::ActivationTable LATHE_ACTIVATIONS(LATHE_ISA) = LATHE_ALL_ACTIVATIONS_OF(LATHE_ISA);

namespace lathe {
namespace {

template <typename F>
inline void ApplyVectors(void* values, int64_t rows, int64_t step, int64_t count, const F& function) {
  if (step == count) {
    count *= rows;
    rows = 1;
  }
  Element* row = static_cast<Element*>(values);
  for (int64_t i = 0; i < rows; ++i, row += step) MapVectorsShortly(row, row, count, function);
}

}  // namespace
}  // namespace lathe

// What vectors x, a and b of a kind give.
#define LATHE_ACTIVATE_VECTORS(kind, isa, result)                                                                    \
  void lathe_activate_##kind##__##isa(const lathe::Activation& activation, void* values, int64_t rows, int64_t step, \
                                      int64_t count) {                                                               \
    using namespace lathe;                                                                                           \
    [[maybe_unused]] const Vec a = Fill(activation.alpha);                                                           \
    [[maybe_unused]] const Vec b = Fill(activation.beta);                                                            \
    ApplyVectors(values, rows, step, count, [=](Vec x) { return result; });                                          \
  }
#define LATHE_ACTIVATE_EACH(isa)                                  \
  LATHE_ACTIVATE_VECTORS(relu, isa, AtLeast(x, Fill(0.0f)))       \
  LATHE_ACTIVATE_VECTORS(clip, isa, Clip(x, a, b))                \
  LATHE_ACTIVATE_VECTORS(sigmoid, isa, Sigmoid(x))                \
  LATHE_ACTIVATE_VECTORS(tanh, isa, Tanh(x))                      \
  LATHE_ACTIVATE_VECTORS(leaky_relu, isa, LeakyRelu(x, a))        \
  LATHE_ACTIVATE_VECTORS(elu, isa, Elu(x, a))                     \
  LATHE_ACTIVATE_VECTORS(hard_sigmoid, isa, HardSigmoid(x, a, b)) \
  LATHE_ACTIVATE_VECTORS(hard_swish, isa, HardSwish(x))           \
  LATHE_ACTIVATE_VECTORS(swish, isa, Swish(x))
#define LATHE_ACTIVATE_EACH_OF(isa) LATHE_ACTIVATE_EACH(isa)

LATHE_ACTIVATE_EACH_OF(LATHE_ISA)

#endif  // LATHE_KERNEL_SIMD_VECTOR_ACTIVATION_UNIT_H_
