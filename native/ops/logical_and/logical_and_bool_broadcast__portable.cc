// Whether both are true.
#include "native/core/typed.h"

namespace lathe {
namespace {

struct LogicalAndOperation : NoAttributes {
  template <typename C>
  C operator()(C a, C b) const {
    return static_cast<C>(a & b);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(logical_and_bool_broadcast__portable) =
    lathe::TypedBinaryKernel<lathe::LogicalAndOperation, lathe::Types<lathe::Bool>>(
        "logical_and_bool_broadcast__portable", "logical_and");
