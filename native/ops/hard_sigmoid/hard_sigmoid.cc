// max(0, min(1, alpha * x + beta)).
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

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

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::HardSigmoidOperation, lathe::OtherFloats>();
