// a to the power of b, with the special cases of C; integers wrap around.
#include "native/kernel/kernel_types.h"
#include "native/kernel/loops/typed.h"
#include "native/kernel/math/functions.h"
#include "native/kernel/math/integer.h"

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

LATHE_KERNEL = lathe::TypedBinaryKernel<lathe::PowOperation, lathe::KernelTypes<lathe::OtherNumbers>>();
