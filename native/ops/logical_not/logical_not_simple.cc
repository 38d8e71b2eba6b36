// Whether it is false.
#include "native/kernel/loops/typed.h"

namespace lathe {
namespace {

struct LogicalNotOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return static_cast<C>(x == 0);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::TypedUnaryKernel<lathe::LogicalNotOperation, lathe::Types<lathe::Bool>>();
