// Limits to [low, high], either of which may be infinite; NaN stays NaN. Bounds of integers are rounded inwards.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"
#include "native/ops/clip/clip_bounds.h"

namespace lathe {
namespace {

struct ClipOperation : ClipBounds {
  template <typename C>
  C operator()(C x) const {
    if constexpr (kIsFloat<C>) {
      return ClipOf<C>(x, static_cast<C>(low), static_cast<C>(high));
    } else {
      return ClipOf<C>(x, Convert<C>(CeilOf(low)), Convert<C>(FloorOf(high)));
    }
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::ClipOperation, lathe::OtherNumbers>();
