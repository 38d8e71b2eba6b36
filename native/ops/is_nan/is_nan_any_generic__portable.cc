// Whether it is not a number.
#include "native/core/typed.h"

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

LATHE_KERNEL(is_nan_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::IsNanOperation, lathe::AllFloats, lathe::Bool>("is_nan_any_generic__portable",
                                                                                  "is_nan");
