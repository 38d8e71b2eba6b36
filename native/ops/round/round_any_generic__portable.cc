// The nearest whole number; of two equally near ones the even one.
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct RoundOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return RoundOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(round_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::RoundOperation, lathe::OtherFloats>("round_any_generic__portable", "round");
