// x, or alpha * x where x is negative.
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct LeakyReluOperation {
  float alpha;

  Code Read(const PrepareContext& context) { return context.Float("alpha", &alpha); }
  template <typename C>
  C operator()(C x) const {
    return LeakyReluOf(x, alpha);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(leaky_relu_any_generic__portable) = lathe::TypedUnaryKernel<lathe::LeakyReluOperation, lathe::OtherFloats>(
    "leaky_relu_any_generic__portable", "leaky_relu");
