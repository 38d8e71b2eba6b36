// 1 / x.
#include "native/core/functions.h"
#include "native/core/typed.h"

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

LATHE_KERNEL(reciprocal_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::ReciprocalOperation, lathe::OtherFloats>("reciprocal_any_generic__portable",
                                                                            "reciprocal");
