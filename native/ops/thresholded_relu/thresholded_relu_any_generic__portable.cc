// x where it is above alpha, else 0.
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct ThresholdedReluOperation {
  float alpha;

  Code Read(const PrepareContext& context) { return context.Float("alpha", &alpha); }
  template <typename C>
  C operator()(C x) const {
    return x > static_cast<C>(alpha) ? x : C(0);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(thresholded_relu_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::ThresholdedReluOperation, lathe::OtherFloats>(
        "thresholded_relu_any_generic__portable", "thresholded_relu");
