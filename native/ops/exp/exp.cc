// e^x.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct ExpOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return ExpOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::ExpOperation, lathe::OtherFloats>();
