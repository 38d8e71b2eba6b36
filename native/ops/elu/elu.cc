// x, or alpha * (e^x - 1) where x is negative.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

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

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::EluOperation, lathe::OtherFloats>();
