// max(x, 0); NaN stays NaN.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct ReluOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return ReluOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::ReluOperation, lathe::OtherNumbers>();
