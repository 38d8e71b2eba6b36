// All kinds of activations, for single floats. No code that asks for the bits of the kinds may be here: the compiler
// would answer with those of this file.
#include "native/kernel/math/activations.h"

#include "native/kernel/math/activation.h"

LATHE_DECLARE_ACTIVATIONS(float)

extern "C" __attribute__((weak)) const uint32_t lathe_activation_kinds = (1u << lathe::kActivationKinds) - 1;
extern "C" __attribute__((weak)) const lathe::ActivationTable lathe_activations__float = LATHE_ALL_ACTIVATIONS(float);

namespace lathe {
namespace {

template <typename F>
inline void ApplyEach(void* values, int64_t rows, int64_t step, int64_t count, const F& function) {
  float* row = static_cast<float*>(values);
  for (int64_t r = 0; r < rows; ++r, row += step) {
    for (int64_t i = 0; i < count; ++i) row[i] = function(row[i]);
  }
}

}  // namespace
}  // namespace lathe

// What x, a and b of a kind give.
#define LATHE_ACTIVATE_FLOATS(kind, result)                                                                          \
  void lathe_activate_##kind##__float(const lathe::Activation& activation, void* values, int64_t rows, int64_t step, \
                                      int64_t count) {                                                               \
    [[maybe_unused]] const float a = activation.alpha;                                                               \
    [[maybe_unused]] const float b = activation.beta;                                                                \
    lathe::ApplyEach(values, rows, step, count, [=](float x) { return lathe::result; });                             \
  }

LATHE_ACTIVATE_FLOATS(relu, Relu(x))
LATHE_ACTIVATE_FLOATS(clip, Clip(x, a, b))
LATHE_ACTIVATE_FLOATS(sigmoid, Sigmoidf(x))
LATHE_ACTIVATE_FLOATS(tanh, Tanhf(x))
LATHE_ACTIVATE_FLOATS(leaky_relu, LeakyRelu(x, a))
LATHE_ACTIVATE_FLOATS(elu, Elu(x, a))
LATHE_ACTIVATE_FLOATS(hard_sigmoid, HardSigmoid(x, a, b))
LATHE_ACTIVATE_FLOATS(hard_swish, HardSwish(x))
LATHE_ACTIVATE_FLOATS(swish, Swish(x))
