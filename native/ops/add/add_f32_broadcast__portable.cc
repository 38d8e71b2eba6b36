// a + b, then the activation.
#include "native/core/activation.h"
#include "native/core/broadcast.h"

namespace lathe {
namespace {

struct AddOperation {
  Activation activation;

  Code Read(const PrepareContext& context) { return ReadActivation(context, &activation); }
  float operator()(float a, float b) const { return a + b; }
  void Finish(float* values, int64_t count) const { Activate(activation, values, count); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(add_f32_broadcast__portable) = lathe::BinaryKernel<lathe::AddOperation>("add_f32_broadcast__portable",
                                                                                     "add");
