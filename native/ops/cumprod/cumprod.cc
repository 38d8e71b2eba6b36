// The product of the elements up to each place along the axis.
#include "native/kernel/kernel_types.h"
#include "native/kernel/loops/cumulate.h"
#include "native/kernel/math/integer.h"

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

LATHE_KERNEL =
    lathe::AxisKernel<lathe::CumulateOperation<lathe::CumprodStep>, lathe::KernelTypes<lathe::OtherNumbers>>();
