// The inverse of the hyperbolic sine.
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct AsinhOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return AsinhOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(asinh_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::AsinhOperation, lathe::OtherFloats>("asinh_any_generic__portable", "asinh");
