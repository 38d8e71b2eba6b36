// The inverse of the hyperbolic tangent; not a number outside -1..1.
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct AtanhOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return AtanhOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(atanh_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::AtanhOperation, lathe::OtherFloats>("atanh_any_generic__portable", "atanh");
