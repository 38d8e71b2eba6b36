// Activations of what lies in memory: what activation.h says of single floats.
#ifndef LATHE_KERNEL_SIMD_VECTOR_ACTIVATION_H_
#define LATHE_KERNEL_SIMD_VECTOR_ACTIVATION_H_

#include "native/kernel/math/activation.h"
#include "native/kernel/simd/simd.h"

#define LATHE_ACTIVATIONS_OF(isa) lathe_activations__##isa
#define LATHE_ACTIVATIONS(isa) LATHE_ACTIVATIONS_OF(isa)

// Of the vectors of this instruction set: vector_activation_unit.h.
extern "C" __attribute__((visibility("hidden"))) const lathe::ActivationTable LATHE_ACTIVATIONS(LATHE_ISA);

namespace lathe {
namespace {

// Applies the activation in place to the first `count` elements of rows that are `step` elements apart. Calls for many
// rows are faster.
inline void ActivateRows(const Activation& activation, Element* values, int64_t rows, int64_t step, int64_t count) {
  ActivateRowsOf(LATHE_ACTIVATIONS(LATHE_ISA), activation, values, rows, step, count);
}

inline void ActivateAll(const Activation& activation, Element* values, int64_t count) {
  ActivateRows(activation, values, 1, count, count);
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SIMD_VECTOR_ACTIVATION_H_
