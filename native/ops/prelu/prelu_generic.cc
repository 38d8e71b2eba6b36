// x, or slope * x where x is negative.
#include "native/kernel/kernel_types.h"
#include "native/kernel/loops/typed.h"
#include "native/kernel/math/integer.h"

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

LATHE_KERNEL = lathe::TypedBinaryKernel<lathe::PreluOperation, lathe::KernelTypes<lathe::OtherNumbers>>();
