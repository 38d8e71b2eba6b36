// x / (1 + e^-x).
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct SwishOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return SwishOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(swish_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::SwishOperation, lathe::OtherFloats>("swish_any_generic__portable", "swish");
