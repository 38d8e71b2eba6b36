// x, or alpha * (e^x - 1) where x is negative.
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct EluOperation {
  float alpha;

  Code Read(const PrepareContext& context) { return context.Float("alpha", &alpha); }
  template <typename C>
  C operator()(C x) const {
    return EluOf(x, alpha);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(elu_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::EluOperation, lathe::OtherFloats>("elu_any_generic__portable", "elu");
