// Activations of what lies in memory: what activation.h says of single floats.
#ifndef LATHE_KERNEL_SIMD_VECTOR_ACTIVATION_H_
#define LATHE_KERNEL_SIMD_VECTOR_ACTIVATION_H_

#include "native/kernel/math/activation.h"
#include "native/kernel/simd/simd.h"

namespace lathe {
inline namespace LATHE_ISA {

// Applies the activation in place to the first `count` elements of rows that are `step` elements apart. Calls for many
// rows are faster. Once per instruction set: vector_activation_unit.h
void ActivateRows(const Activation& activation, Element* values, int64_t rows, int64_t step, int64_t count);

}  // namespace LATHE_ISA

namespace {

inline void ActivateAll(const Activation& activation, Element* values, int64_t count) {
  ActivateRows(activation, values, 1, count, count);
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SIMD_VECTOR_ACTIVATION_H_
