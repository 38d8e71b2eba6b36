// The hyperbolic cosine.
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct CoshOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return CoshOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(cosh_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::CoshOperation, lathe::OtherFloats>("cosh_any_generic__portable", "cosh");
