// Whether it is not a number.
#include "native/kernel/loops/typed.h"

namespace lathe {
namespace {

struct IsNanOperation : NoAttributes {
  template <typename C>
  bool operator()(C x) const {
    return x != x;
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::TypedUnaryKernel<lathe::IsNanOperation, lathe::AllFloats, lathe::Bool>();
