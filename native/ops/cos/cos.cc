// The cosine of an angle in radians.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct CosOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return CosOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::CosOperation, lathe::OtherFloats>();
