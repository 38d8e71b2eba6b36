// Whether both are equal; NaN is not.
#include "native/core/typed.h"

namespace lathe {
namespace {

struct EqualOperation : NoAttributes {
  template <typename C>
  bool operator()(C a, C b) const {
    return a == b;
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(equal_any_generic__portable) =
    lathe::TypedBinaryKernel<lathe::EqualOperation, lathe::RareElements, lathe::Bool>("equal_any_generic__portable",
                                                                                      "equal");
