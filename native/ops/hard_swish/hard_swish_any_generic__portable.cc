// x * max(0, min(1, x / 6 + 0.5)).
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct HardSwishOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return HardSwishOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(hard_swish_any_generic__portable) = lathe::TypedUnaryKernel<lathe::HardSwishOperation, lathe::OtherFloats>(
    "hard_swish_any_generic__portable", "hard_swish");
