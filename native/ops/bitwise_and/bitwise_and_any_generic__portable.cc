// The bits that both have.
#include "native/core/typed.h"

namespace lathe {
namespace {

struct BitwiseAndOperation : NoAttributes {
  template <typename C>
  C operator()(C a, C b) const {
    return static_cast<C>(a & b);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(bitwise_and_any_generic__portable) =
    lathe::TypedBinaryKernel<lathe::BitwiseAndOperation, lathe::AllIntegers>("bitwise_and_any_generic__portable",
                                                                             "bitwise_and");
