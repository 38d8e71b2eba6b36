// x, or slope * x where x is negative.
#include "native/core/integer.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct PreluOperation : NoAttributes {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (kIsFloat<C>) {
      return a < C(0) ? b * a : a;
    } else {
      return a < C(0) ? Wrapping<C>::Mul(b, a) : a;
    }
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(prelu_any_generic__portable) =
    lathe::TypedBinaryKernel<lathe::PreluOperation, lathe::OtherNumbers>("prelu_any_generic__portable", "prelu");
