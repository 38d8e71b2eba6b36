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

// Functions of a few instructions cost as much as a loop, and on ARM longer ones take a sixth less in pairs.
#if defined(__ARM_NEON)
constexpr int kLongTogether = 2;
#else
constexpr int kLongTogether = 1;
#endif

template <bool is_short, typename F>
inline void ApplyVectors(void* values, int64_t rows, int64_t step, int64_t count, const F& function) {
  if (step == count) {
    count *= rows;
    rows = 1;
  }
  Element* row = static_cast<Element*>(values);
  for (int64_t i = 0; i < rows; ++i, row += step) {
    if constexpr (is_short || kLongTogether > 1) {
      MapVectorsTogether<is_short ? 4 : kLongTogether>(row, row, count, function);
    } else {
      MapVectorsShortly(row, row, count, function);
    }
  }
}

}  // namespace
}  // namespace lathe

// What vectors x, a and b of a kind give, and whether that takes a few instructions only.
#define LATHE_ACTIVATE_VECTORS(kind, isa, is_short, result)                                                          \
  void lathe_activate_##kind##__##isa(const lathe::Activation& activation, void* values, int64_t rows, int64_t step, \
                                      int64_t count) {                                                               \
    using namespace lathe;                                                                                           \
    [[maybe_unused]] const Vec a = Fill(activation.alpha);                                                           \
    [[maybe_unused]] const Vec b = Fill(activation.beta);                                                            \
    ApplyVectors<is_short>(values, rows, step, count, [=](Vec x) { return result; });                                \
  }
#define LATHE_ACTIVATE_EACH(isa)                                        \
  LATHE_ACTIVATE_VECTORS(relu, isa, true, AtLeast(x, Fill(0.0f)))       \
  LATHE_ACTIVATE_VECTORS(clip, isa, true, Clip(x, a, b))                \
  LATHE_ACTIVATE_VECTORS(sigmoid, isa, false, Sigmoid(x))               \
  LATHE_ACTIVATE_VECTORS(tanh, isa, false, Tanh(x))                     \
  LATHE_ACTIVATE_VECTORS(leaky_relu, isa, true, LeakyRelu(x, a))        \
  LATHE_ACTIVATE_VECTORS(elu, isa, false, Elu(x, a))                    \
  LATHE_ACTIVATE_VECTORS(hard_sigmoid, isa, true, HardSigmoid(x, a, b)) \
  LATHE_ACTIVATE_VECTORS(swish, isa, false, Swish(x))
#define LATHE_ACTIVATE_EACH_OF(isa) LATHE_ACTIVATE_EACH(isa)

LATHE_ACTIVATE_EACH_OF(LATHE_ISA)

#if defined(LATHE_ISA_FP16)
// Halves without widening, for a third of the instructions: where results are small, x + 3 is exact.
void lathe_activate_hard_swish__fp16(const lathe::Activation&, void* values, int64_t rows, int64_t step,
                                     int64_t count) {
  const auto function = [](float16x8_t x) {
    const float16x8_t clipped = vminq_f16(vmaxq_f16(vaddq_f16(x, vdupq_n_f16(3)), vdupq_n_f16(0)), vdupq_n_f16(6));
    return vmulq_f16(x, vmulq_f16(clipped, vdupq_n_f16(static_cast<float16_t>(1.0f / 6.0f))));
  };
  if (step == count) {
    count *= rows;
    rows = 1;
  }
  auto* row = static_cast<float16_t*>(values);
  for (int64_t i = 0; i < rows; ++i, row += step) {
    int64_t at = 0;
    for (; at + 16 <= count; at += 16) {
      const float16x8_t x = vld1q_f16(row + at), y = vld1q_f16(row + at + 8);
      vst1q_f16(row + at, function(x));
      vst1q_f16(row + at + 8, function(y));
    }
    for (; at < count; at += 8) {
      float16_t part[8] = {};
      const size_t bytes = static_cast<size_t>(count - at < 8 ? count - at : 8) * sizeof(float16_t);
      memcpy(part, row + at, bytes);
      vst1q_f16(part, function(vld1q_f16(part)));
      memcpy(row + at, part, bytes);
    }
  }
}
#else
#define LATHE_ACTIVATE_HARD_SWISH(isa) LATHE_ACTIVATE_VECTORS(hard_swish, isa, true, HardSwish(x))
LATHE_ACTIVATE_HARD_SWISH(LATHE_ISA)
#endif

#endif  // LATHE_KERNEL_SIMD_VECTOR_ACTIVATION_UNIT_H_
