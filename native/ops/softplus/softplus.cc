// log(1 + e^x).
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct SoftplusOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return SoftplusOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::SoftplusOperation, lathe::OtherFloats>();
