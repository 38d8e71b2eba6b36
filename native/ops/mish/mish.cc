// x * tanh(softplus(x)).
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct MishOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return x * TanhOf(SoftplusOf(x));
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::MishOperation, lathe::OtherFloats>();
