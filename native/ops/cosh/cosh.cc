// The hyperbolic cosine.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct CoshOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return CoshOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::CoshOperation, lathe::OtherFloats>();
