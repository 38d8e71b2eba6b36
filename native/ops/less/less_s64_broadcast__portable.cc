// Whether a is below b; with NaN it is not.
#include "native/core/typed.h"

namespace lathe {
namespace {

struct LessOperation : NoAttributes {
  template <typename C>
  bool operator()(C a, C b) const {
    return a < b;
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(less_s64_broadcast__portable) =
    lathe::TypedBinaryKernel<lathe::LessOperation, lathe::Types<int64_t>, lathe::Bool>("less_s64_broadcast__portable",
                                                                                       "less");
