// x, or alpha * x where x is negative.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

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

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::LeakyReluOperation, lathe::OtherFloats>();
