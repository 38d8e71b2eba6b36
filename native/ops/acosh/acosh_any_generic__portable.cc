// The inverse of the hyperbolic cosine; not a number below 1.
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct AcoshOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return AcoshOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(acosh_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::AcoshOperation, lathe::OtherFloats>("acosh_any_generic__portable", "acosh");
