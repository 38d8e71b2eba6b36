// The arctangent.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct AtanOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return AtanOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::AtanOperation, lathe::OtherFloats>();
