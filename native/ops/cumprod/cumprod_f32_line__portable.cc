// The product of the elements up to each place along the axis.
#include "native/core/cumulate.h"
#include "native/core/integer.h"

namespace lathe {
namespace {

struct CumprodStep {
  template <typename C>
  static C Initial() {
    return C(1);
  }
  template <typename C>
  static C Add(C a, C b) {
    if constexpr (kIsFloat<C>) {
      return a * b;
    } else {
      return Wrapping<C>::Mul(a, b);
    }
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(cumprod_f32_line__portable) =
    lathe::AxisKernel<lathe::CumulateOperation<lathe::CumprodStep>, lathe::Types<float>>("cumprod_f32_line__portable",
                                                                                         "cumprod");
