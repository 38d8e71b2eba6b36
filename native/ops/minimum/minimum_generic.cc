// The smaller of both; NaN wins.
#include "native/kernel/kernel_types.h"
#include "native/kernel/loops/typed.h"

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

LATHE_KERNEL = lathe::TypedBinaryKernel<lathe::MinimumOperation, lathe::KernelTypes<lathe::RareNumbers>>();
