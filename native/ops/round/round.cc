// The nearest whole number; of two equally near ones the even one.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct RoundOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return RoundOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::RoundOperation, lathe::OtherFloats>();
