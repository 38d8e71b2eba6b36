// e^x.
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct ExpOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return ExpOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(exp_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::ExpOperation, lathe::OtherFloats>("exp_any_generic__portable", "exp");
