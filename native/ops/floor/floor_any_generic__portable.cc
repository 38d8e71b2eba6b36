// The largest whole number that is not above x.
#include "native/core/functions.h"
#include "native/core/typed.h"

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

LATHE_KERNEL(floor_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::FloorOperation, lathe::OtherFloats>("floor_any_generic__portable", "floor");
