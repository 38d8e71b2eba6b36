// The arccosine; not a number outside -1..1.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct AcosOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return AcosOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::AcosOperation, lathe::OtherFloats>();
