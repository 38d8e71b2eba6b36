// x / (1 + e^-x).
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct SwishOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return SwishOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::SwishOperation, lathe::OtherFloats>();
