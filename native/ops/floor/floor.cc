// The largest whole number that is not above x.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct FloorOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return FloorOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::FloorOperation, lathe::OtherFloats>();
