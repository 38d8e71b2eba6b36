// The inverse of the hyperbolic tangent; not a number outside -1..1.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct AtanhOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return AtanhOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::AtanhOperation, lathe::OtherFloats>();
