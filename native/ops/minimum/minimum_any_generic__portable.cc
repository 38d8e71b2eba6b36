// The smaller of both; NaN wins.
#include "native/core/typed.h"

namespace lathe {
namespace {

struct MinimumOperation : NoAttributes {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (kIsFloat<C>) {
      return a < b || a != a ? a : b;
    } else {
      return a < b ? a : b;
    }
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(minimum_any_generic__portable) =
    lathe::TypedBinaryKernel<lathe::MinimumOperation, lathe::RareNumbers>("minimum_any_generic__portable", "minimum");
