// max(0, min(1, alpha * x + beta)).
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct HardSigmoidOperation {
  float alpha;
  float beta;

  Code Read(const PrepareContext& context) {
    LATHE_TRY(context.Float("alpha", &alpha));
    return context.Float("beta", &beta);
  }
  template <typename C>
  C operator()(C x) const {
    return HardSigmoidOf<C>(x, static_cast<C>(alpha), static_cast<C>(beta));
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(hard_sigmoid_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::HardSigmoidOperation, lathe::OtherFloats>("hard_sigmoid_any_generic__portable",
                                                                             "hard_sigmoid");
