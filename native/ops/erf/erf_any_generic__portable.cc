// The error function.
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct ErfOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return ErfOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(erf_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::ErfOperation, lathe::OtherFloats>("erf_any_generic__portable", "erf");
