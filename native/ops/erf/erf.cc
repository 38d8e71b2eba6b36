// The error function.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct ErfOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return ErfOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::ErfOperation, lathe::OtherFloats>();
