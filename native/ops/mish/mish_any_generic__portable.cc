// x * tanh(softplus(x)).
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct MishOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return x * TanhOf(SoftplusOf(x));
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(mish_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::MishOperation, lathe::OtherFloats>("mish_any_generic__portable", "mish");
