// a * b.
#include "native/kernel/kernel_types.h"
#include "native/kernel/loops/typed.h"
#include "native/kernel/math/integer.h"

namespace lathe {
namespace {

struct MulOperation : NoAttributes {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (kIsFloat<C>) {
      return a * b;
    } else {
      return Wrapping<C>::Mul(a, b);
    }
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::TypedBinaryKernel<lathe::MulOperation, lathe::KernelTypes<lathe::RareNumbers>>();
