// The arcsine; not a number outside -1..1.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct AsinOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return AsinOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::AsinOperation, lathe::OtherFloats>();
