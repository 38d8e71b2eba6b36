// Activations of what lies in memory: what activation.h says of single floats. The header of an instruction set
// (vector_*.h) goes before this one.
#ifndef LATHE_CORE_VECTOR_ACTIVATION_H_
#define LATHE_CORE_VECTOR_ACTIVATION_H_

#include "native/core/activation.h"
#include "native/core/vector_element.h"

namespace lathe {
inline namespace LATHE_VECTORS {

// Applies the activation in place. Once per instruction set: isa/vector_activation__<set>.cc
void ActivateAll(const Activation& activation, Element* values, int64_t count);

}  // namespace LATHE_VECTORS
}  // namespace lathe

#endif  // LATHE_CORE_VECTOR_ACTIVATION_H_
