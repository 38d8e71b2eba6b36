// -1, 0 or 1; NaN stays NaN.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"
#include "native/kernel/math/integer.h"

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

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::SignOperation, lathe::OtherNumbers>();
