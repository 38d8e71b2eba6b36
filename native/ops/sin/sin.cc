// The sine of an angle in radians.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct SinOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return SinOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::SinOperation, lathe::OtherFloats>();
