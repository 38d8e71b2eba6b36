// Whether it is false.
#include "native/core/typed.h"

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

LATHE_KERNEL(logical_not_bool_simple__portable) =
    lathe::TypedUnaryKernel<lathe::LogicalNotOperation, lathe::Types<lathe::Bool>>("logical_not_bool_simple__portable",
                                                                                   "logical_not");
