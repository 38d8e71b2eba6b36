// The hyperbolic tangent.
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct TanhOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return TanhOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(tanh_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::TanhOperation, lathe::OtherFloats>("tanh_any_generic__portable", "tanh");
