// Whether a is below b; with NaN it is not.
#include "native/kernel/kernel_types.h"
#include "native/kernel/loops/typed.h"

namespace lathe {
namespace {

struct LessOperation : NoAttributes {
  template <typename C>
  bool operator()(C a, C b) const {
    return a < b;
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::TypedBinaryKernel<lathe::LessOperation, lathe::KernelTypes<lathe::RareNumbers>, lathe::Bool>();
