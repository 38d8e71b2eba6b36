// Whether exactly one is true.
#include "native/kernel/loops/typed.h"

namespace lathe {
namespace {

struct LogicalXorOperation : NoAttributes {
  template <typename C>
  C operator()(C a, C b) const {
    return static_cast<C>(a ^ b);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::TypedBinaryKernel<lathe::LogicalXorOperation, lathe::Types<lathe::Bool>>();
