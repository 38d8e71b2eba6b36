// The hyperbolic sine.
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct SinhOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return SinhOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(sinh_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::SinhOperation, lathe::OtherFloats>("sinh_any_generic__portable", "sinh");
