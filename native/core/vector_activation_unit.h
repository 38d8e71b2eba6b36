// What isa/vector_activation__<set>.cc is made of. The header of its instruction set goes before this one.
#ifndef LATHE_CORE_VECTOR_ACTIVATION_UNIT_H_
#define LATHE_CORE_VECTOR_ACTIVATION_UNIT_H_

#include "native/core/vector_activation.h"

namespace lathe {
inline namespace LATHE_VECTORS {

void ActivateAll(const Activation& activation, float* values, int64_t count) {
  if (activation.kind == ActivationKind::kNone) return;
  WithActivation(activation, [=](const auto& function) { MapVectorsShortly(values, values, count, function); });
}

}  // namespace LATHE_VECTORS
}  // namespace lathe

#endif  // LATHE_CORE_VECTOR_ACTIVATION_UNIT_H_
