// The arcsine; not a number outside -1..1.
#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct AsinOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return AsinOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(asin_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::AsinOperation, lathe::OtherFloats>("asin_any_generic__portable", "asin");
