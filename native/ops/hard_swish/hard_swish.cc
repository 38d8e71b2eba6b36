// x * max(0, min(1, x / 6 + 0.5)).
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct HardSwishOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return HardSwishOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::HardSwishOperation, lathe::OtherFloats>();
