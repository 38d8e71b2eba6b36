// The square root; NaN below 0.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct SqrtOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return SqrtOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::SqrtOperation, lathe::OtherFloats>();
