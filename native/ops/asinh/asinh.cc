// The inverse of the hyperbolic sine.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct AsinhOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return AsinhOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::AsinhOperation, lathe::OtherFloats>();
