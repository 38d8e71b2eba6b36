// The bits that at least one has.
#include "native/core/typed.h"

namespace lathe {
namespace {

struct BitwiseOrOperation : NoAttributes {
  template <typename C>
  C operator()(C a, C b) const {
    return static_cast<C>(a | b);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(bitwise_or_any_generic__portable) =
    lathe::TypedBinaryKernel<lathe::BitwiseOrOperation, lathe::AllIntegers>("bitwise_or_any_generic__portable",
                                                                            "bitwise_or");
