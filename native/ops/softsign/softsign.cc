// x / (1 + |x|).
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct SoftsignOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return x / (C(1) + AbsOf(x));
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::SoftsignOperation, lathe::OtherFloats>();
