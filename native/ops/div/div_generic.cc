// a / b; integers are cut towards zero, and over 0 they are 0.
#include "native/kernel/kernel_types.h"
#include "native/kernel/loops/typed.h"
#include "native/kernel/math/integer.h"

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

LATHE_KERNEL = lathe::TypedBinaryKernel<lathe::DivOperation, lathe::KernelTypes<lathe::RareNumbers>>();
