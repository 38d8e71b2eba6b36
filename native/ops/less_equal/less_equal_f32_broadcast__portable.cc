// Whether a is below or equal to b; with NaN it is not.
#include "native/core/typed.h"

namespace lathe {
namespace {

struct LessEqualOperation : NoAttributes {
  template <typename C>
  bool operator()(C a, C b) const {
    return a <= b;
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(less_equal_f32_broadcast__portable) =
    lathe::TypedBinaryKernel<lathe::LessEqualOperation, lathe::Types<float>, lathe::Bool>(
        "less_equal_f32_broadcast__portable", "less_equal");
