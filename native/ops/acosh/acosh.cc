// The inverse of the hyperbolic cosine; not a number below 1.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct AcoshOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return AcoshOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::AcoshOperation, lathe::OtherFloats>();
