// a + b, then the activation.
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/core/vector_activation.h"
#include "native/core/vector_elementwise.h"

namespace lathe {
namespace {

struct AddOperation {
  Activation activation;

  Code Read(const PrepareContext& context) { return ReadActivation(context, &activation); }
  Vec operator()(Vec a, Vec b) const { return Add(a, b); }
  void Finish(float* values, int64_t count) const { ActivateAll(activation, values, count); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(add_f32_broadcast__portable) =
    lathe::VectorBinaryKernel<lathe::AddOperation>("add_f32_broadcast__portable", "add");
