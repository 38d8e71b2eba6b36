// The hyperbolic sine.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct SinhOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return SinhOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::SinhOperation, lathe::OtherFloats>();
