// All bits turned over.
#include "native/core/typed.h"

namespace lathe {
namespace {

struct BitwiseNotOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return static_cast<C>(~x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(bitwise_not_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::BitwiseNotOperation, lathe::AllIntegers>("bitwise_not_any_generic__portable",
                                                                            "bitwise_not");
