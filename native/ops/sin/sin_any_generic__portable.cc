// The sine of an angle in radians.
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct SinOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return SinOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(sin_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::SinOperation, lathe::OtherFloats>("sin_any_generic__portable", "sin");
