// Negation; integers wrap around.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/integer.h"

namespace lathe {
namespace {

struct NegOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    if constexpr (kIsFloat<C>) {
      return -x;
    } else {
      return Wrapping<C>::Sub(0, x);
    }
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::NegOperation, lathe::OtherNumbers>();
