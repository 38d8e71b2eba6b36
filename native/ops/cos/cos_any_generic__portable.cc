// The cosine of an angle in radians.
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct CosOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return CosOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(cos_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::CosOperation, lathe::OtherFloats>("cos_any_generic__portable", "cos");
