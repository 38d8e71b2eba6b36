// The hyperbolic tangent.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct TanhOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return TanhOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::TanhOperation, lathe::OtherFloats>();
