// x / (1 + |x|).
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct SoftsignOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return x / (C(1) + AbsOf(x));
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(softsign_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::SoftsignOperation, lathe::OtherFloats>("softsign_any_generic__portable", "softsign");
