// The smallest whole number that is not below x.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct CeilOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return CeilOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::CeilOperation, lathe::OtherFloats>();
