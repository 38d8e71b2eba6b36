// x, or alpha * (e^(x / alpha) - 1) where x is negative.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct CeluOperation {
  float alpha;

  Code Read(const PrepareContext& context) { return context.Float("alpha", &alpha); }
  template <typename C>
  C operator()(C x) const {
    return x < C(0) ? static_cast<C>(alpha) * Expm1Of(x / static_cast<C>(alpha)) : x;
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::CeluOperation, lathe::OtherFloats>();
