// The bits that exactly one has.
#include "native/core/typed.h"

namespace lathe {
namespace {

struct BitwiseXorOperation : NoAttributes {
  template <typename C>
  C operator()(C a, C b) const {
    return static_cast<C>(a ^ b);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(bitwise_xor_any_generic__portable) =
    lathe::TypedBinaryKernel<lathe::BitwiseXorOperation, lathe::AllIntegers>("bitwise_xor_any_generic__portable",
                                                                             "bitwise_xor");
