// a + b, then the activation. The header of an instruction set goes before this one.
#ifndef LATHE_OPS_ADD_ADD_BROADCAST_H_
#define LATHE_OPS_ADD_ADD_BROADCAST_H_

#include "native/core/vector_activation.h"
#include "native/core/vector_elementwise.h"

namespace lathe {
namespace {

struct AddOperation {
  Activation activation;

  Code Read(const PrepareContext& context) { return ReadActivation(context, &activation); }
  Vec operator()(Vec a, Vec b) const { return Add(a, b); }
  void Finish(Element* values, int64_t count) const { ActivateAll(activation, values, count); }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_ADD_ADD_BROADCAST_H_
