// The sum of the elements up to each place along the axis.
#include "native/core/cumulate.h"
#include "native/core/integer.h"

namespace lathe {
namespace {

struct CumsumStep {
  template <typename C>
  static C Initial() {
    return C(0);
  }
  template <typename C>
  static C Add(C a, C b) {
    if constexpr (kIsFloat<C>) {
      return a + b;
    } else {
      return Wrapping<C>::Add(a, b);
    }
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(cumsum_any_generic__portable) =
    lathe::AxisKernel<lathe::CumulateOperation<lathe::CumsumStep>, lathe::OtherNumbers>("cumsum_any_generic__portable",
                                                                                        "cumsum");
