// 1 / x.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct ReciprocalOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return C(1) / x;
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::ReciprocalOperation, lathe::OtherFloats>();
