// a - b.
#include "native/core/integer.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct SubOperation : NoAttributes {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (kIsFloat<C>) {
      return a - b;
    } else {
      return Wrapping<C>::Sub(a, b);
    }
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(sub_any_generic__portable) =
    lathe::TypedBinaryKernel<lathe::SubOperation, lathe::RareNumbers>("sub_any_generic__portable", "sub");
