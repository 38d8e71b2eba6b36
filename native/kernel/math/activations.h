// The kinds of activations that a library holds.
//
// The code of each kind is a function of its own, once for single floats and once for the vectors of each instruction
// set that kernels share (native/kernel/units.yaml); tables say what there is of each. The tables that come with the
// code hold everything and are weak: the registry of a tailored library has tables of its own, with what its models
// use, and the linker leaves out the rest.
#ifndef LATHE_KERNEL_MATH_ACTIVATIONS_H_
#define LATHE_KERNEL_MATH_ACTIVATIONS_H_

#include <stdint.h>

namespace lathe {

// As ACTIVATIONS of buildtool/ops/_activation.py.
enum class ActivationKind : int32_t {
  kNone,
  kRelu,
  kClip,
  kSigmoid,
  kTanh,
  kLeakyRelu,
  kElu,
  kHardSigmoid,
  kHardSwish,
  kSwish
};

constexpr int kActivationKinds = 10;

struct Activation {
  ActivationKind kind;
  float alpha;
  float beta;
};

// Applies a kind in place to the first `count` elements of rows that are `step` elements apart.
using ActivateFunction = void(const Activation& activation, void* values, int64_t rows, int64_t step, int64_t count);

// By kind; null for `none` and for what the library lacks.
struct ActivationTable {
  ActivateFunction* kinds[kActivationKinds];
};

namespace {

inline void ActivateRowsOf(const ActivationTable& table, const Activation& activation, void* values, int64_t rows,
                           int64_t step, int64_t count) {
  if (activation.kind == ActivationKind::kNone) return;
  table.kinds[static_cast<int>(activation.kind)](activation, values, rows, step, count);
}

}  // namespace
}  // namespace lathe

// One bit for each kind, the first one for `none`.
extern "C" __attribute__((visibility("hidden"))) const uint32_t lathe_activation_kinds;
extern "C" __attribute__((visibility("hidden"))) const lathe::ActivationTable lathe_activations__float;

#define LATHE_DECLARE_ACTIVATION(kind, isa) \
  extern "C" __attribute__((visibility("hidden"))) lathe::ActivateFunction lathe_activate_##kind##__##isa;

#define LATHE_DECLARE_ACTIVATIONS(isa)        \
  LATHE_DECLARE_ACTIVATION(relu, isa)         \
  LATHE_DECLARE_ACTIVATION(clip, isa)         \
  LATHE_DECLARE_ACTIVATION(sigmoid, isa)      \
  LATHE_DECLARE_ACTIVATION(tanh, isa)         \
  LATHE_DECLARE_ACTIVATION(leaky_relu, isa)   \
  LATHE_DECLARE_ACTIVATION(elu, isa)          \
  LATHE_DECLARE_ACTIVATION(hard_sigmoid, isa) \
  LATHE_DECLARE_ACTIVATION(hard_swish, isa)   \
  LATHE_DECLARE_ACTIVATION(swish, isa)        \
  extern "C" __attribute__((visibility("hidden"))) const lathe::ActivationTable lathe_activations__##isa;

#define LATHE_ALL_ACTIVATIONS(isa)                                                                          \
  {                                                                                                         \
    {                                                                                                       \
      nullptr, lathe_activate_relu__##isa, lathe_activate_clip__##isa, lathe_activate_sigmoid__##isa,       \
          lathe_activate_tanh__##isa, lathe_activate_leaky_relu__##isa, lathe_activate_elu__##isa,          \
          lathe_activate_hard_sigmoid__##isa, lathe_activate_hard_swish__##isa, lathe_activate_swish__##isa \
    }                                                                                                       \
  }

#endif  // LATHE_KERNEL_MATH_ACTIVATIONS_H_
