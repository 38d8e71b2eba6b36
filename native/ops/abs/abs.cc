// Absolute value; the smallest of signed integers stays what it is.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"
#include "native/kernel/math/integer.h"

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

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::AbsOperation, lathe::OtherNumbers>();
