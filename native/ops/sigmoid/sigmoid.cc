// 1 / (1 + e^-x).
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct SigmoidOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return SigmoidOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::SigmoidOperation, lathe::OtherFloats>();
