// The arccosine; not a number outside -1..1.
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct AcosOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return AcosOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(acos_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::AcosOperation, lathe::OtherFloats>("acos_any_generic__portable", "acos");
