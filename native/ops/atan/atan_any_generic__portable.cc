// The arctangent.
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct AtanOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return AtanOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(atan_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::AtanOperation, lathe::OtherFloats>("atan_any_generic__portable", "atan");
