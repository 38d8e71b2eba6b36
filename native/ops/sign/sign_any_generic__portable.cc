// -1, 0 or 1; NaN stays NaN.
#include "native/core/functions.h"
#include "native/core/integer.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct SignOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    if (x > C(0)) return C(1);
    if constexpr (!kIsSigned<C>) return C(0);
    return x < C(0) ? static_cast<C>(-1) : x;
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(sign_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::SignOperation, lathe::OtherNumbers>("sign_any_generic__portable", "sign");
