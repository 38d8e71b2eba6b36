// The smallest whole number that is not below x.
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct CeilOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return CeilOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(ceil_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::CeilOperation, lathe::OtherFloats>("ceil_any_generic__portable", "ceil");
