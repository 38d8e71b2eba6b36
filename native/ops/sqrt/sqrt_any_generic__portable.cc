// The square root; NaN below 0.
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct SqrtOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return SqrtOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(sqrt_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::SqrtOperation, lathe::OtherFloats>("sqrt_any_generic__portable", "sqrt");
