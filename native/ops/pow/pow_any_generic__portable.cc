// a to the power of b, with the special cases of C; integers wrap around.
#include "native/core/functions.h"
#include "native/core/integer.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct PowOperation : NoAttributes {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (kIsFloat<C>) {
      return PowOf(a, b);
    } else {
      return Wrapping<C>::Pow(a, b);
    }
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(pow_any_generic__portable) =
    lathe::TypedBinaryKernel<lathe::PowOperation, lathe::OtherNumbers>("pow_any_generic__portable", "pow");
