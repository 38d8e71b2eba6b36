// Whether at least one is true.
#include "native/core/typed.h"

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

LATHE_KERNEL(logical_or_bool_broadcast__portable) =
    lathe::TypedBinaryKernel<lathe::LogicalOrOperation, lathe::Types<lathe::Bool>>(
        "logical_or_bool_broadcast__portable", "logical_or");
