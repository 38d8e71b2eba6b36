// The tangent of an angle in radians.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct TanOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return TanOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::TanOperation, lathe::OtherFloats>();
