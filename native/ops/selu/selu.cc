// gamma * x, or gamma * alpha * (e^x - 1) where x is not positive.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct SeluOperation {
  float alpha;
  float gamma;

  Code Read(const PrepareContext& context) {
    LATHE_TRY(context.Float("alpha", &alpha));
    return context.Float("gamma", &gamma);
  }
  template <typename C>
  C operator()(C x) const {
    return static_cast<C>(gamma) * (x > C(0) ? x : static_cast<C>(alpha) * Expm1Of(x));
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::SeluOperation, lathe::OtherFloats>();
