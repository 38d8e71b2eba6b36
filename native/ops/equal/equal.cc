// Whether both are equal; NaN is not.
#include "native/kernel/kernel_types.h"
#include "native/kernel/loops/typed.h"

namespace lathe {
namespace {

struct EqualOperation : NoAttributes {
  template <typename C>
  bool operator()(C a, C b) const {
    return a == b;
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::TypedBinaryKernel<lathe::EqualOperation, lathe::KernelTypes<lathe::RareElements>, lathe::Bool>();
