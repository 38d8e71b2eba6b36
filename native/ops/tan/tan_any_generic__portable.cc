// The tangent of an angle in radians.
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct TanOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return TanOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(tan_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::TanOperation, lathe::OtherFloats>("tan_any_generic__portable", "tan");
