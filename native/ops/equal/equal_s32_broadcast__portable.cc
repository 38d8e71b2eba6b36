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

LATHE_KERNEL(equal_s32_broadcast__portable) =
    lathe::TypedBinaryKernel<lathe::EqualOperation, lathe::Types<int32_t>, lathe::Bool>("equal_s32_broadcast__portable",
                                                                                        "equal");
