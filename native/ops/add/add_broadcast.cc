// a + b, then the activation.
#include "native/kernel/loops/vector_elementwise.h"
#include "native/kernel/simd/simd.h"
#include "native/kernel/simd/vector_activation.h"

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

LATHE_KERNEL = lathe::VectorBinaryKernel<lathe::AddOperation>();
