// log(1 + e^x).
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct SoftplusOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return SoftplusOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(softplus_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::SoftplusOperation, lathe::OtherFloats>("softplus_any_generic__portable", "softplus");
