// Whether exactly one is true.
#include "native/core/typed.h"

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

LATHE_KERNEL(logical_xor_bool_broadcast__portable) =
    lathe::TypedBinaryKernel<lathe::LogicalXorOperation, lathe::Types<lathe::Bool>>(
        "logical_xor_bool_broadcast__portable", "logical_xor");
