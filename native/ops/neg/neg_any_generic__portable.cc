// Negation; integers wrap around.
#include "native/core/integer.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct NegOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    if constexpr (kIsFloat<C>) {
      return -x;
    } else {
      return Wrapping<C>::Sub(0, x);
    }
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(neg_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::NegOperation, lathe::OtherNumbers>("neg_any_generic__portable", "neg");
