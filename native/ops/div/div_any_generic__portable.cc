// a / b; integers are cut towards zero, and over 0 they are 0.
#include "native/core/integer.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct DivOperation : NoAttributes {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (kIsFloat<C>) {
      return a / b;
    } else {
      return Wrapping<C>::Div(a, b);
    }
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(div_any_generic__portable) =
    lathe::TypedBinaryKernel<lathe::DivOperation, lathe::RareNumbers>("div_any_generic__portable", "div");
