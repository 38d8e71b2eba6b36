// Activations of what lies in memory: what activation.h says of single floats.
#ifndef LATHE_KERNEL_SIMD_VECTOR_ACTIVATION_H_
#define LATHE_KERNEL_SIMD_VECTOR_ACTIVATION_H_

#include "native/kernel/math/activation.h"
#include "native/kernel/simd/simd.h"

namespace lathe {
inline namespace LATHE_ISA {

// Applies the activation in place. Once per instruction set: vector_activation_unit.h
void ActivateAll(const Activation& activation, Element* values, int64_t count);

}  // namespace LATHE_ISA
}  // namespace lathe

#endif  // LATHE_KERNEL_SIMD_VECTOR_ACTIVATION_H_
