// The larger of both; NaN wins.
#include "native/core/typed.h"

namespace lathe {
namespace {

struct MaximumOperation : NoAttributes {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (kIsFloat<C>) {
      return a > b || a != a ? a : b;
    } else {
      return a > b ? a : b;
    }
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(maximum_any_generic__portable) =
    lathe::TypedBinaryKernel<lathe::MaximumOperation, lathe::RareNumbers>("maximum_any_generic__portable", "maximum");
