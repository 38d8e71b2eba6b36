// max(x, 0); NaN stays NaN.
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct ReluOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return ReluOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(relu_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::ReluOperation, lathe::OtherNumbers>("relu_any_generic__portable", "relu");
