// 1 / (1 + e^-x).
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct SigmoidOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return SigmoidOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(sigmoid_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::SigmoidOperation, lathe::OtherFloats>("sigmoid_any_generic__portable", "sigmoid");
