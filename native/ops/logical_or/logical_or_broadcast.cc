// Whether at least one is true.
#include "native/kernel/loops/typed.h"

namespace lathe {
namespace {

struct LogicalOrOperation : NoAttributes {
  template <typename C>
  C operator()(C a, C b) const {
    return static_cast<C>(a | b);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::TypedBinaryKernel<lathe::LogicalOrOperation, lathe::Types<lathe::Bool>>();
