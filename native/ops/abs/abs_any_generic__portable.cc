// Absolute value; the smallest of signed integers stays what it is.
#include "native/core/functions.h"
#include "native/core/integer.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct AbsOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    if constexpr (kIsFloat<C>) {
      return AbsOf(x);
    } else {
      return x < C(0) ? Wrapping<C>::Sub(0, x) : x;
    }
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(abs_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::AbsOperation, lathe::OtherNumbers>("abs_any_generic__portable", "abs");
