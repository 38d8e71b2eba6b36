// 1 at the first of the largest elements along the axis, 0 elsewhere.
#include "native/kernel/kernel_types.h"
#include "native/kernel/loops/axis.h"

namespace lathe {
namespace {

struct HardmaxOperation : NoAttributes {
  template <typename T, typename To>
  void operator()(const Source<T>& from, const Target<To>& to, int64_t size) const {
    const int64_t place = PlaceOf<Extreme::kLargest>(from, size, false);
    for (int64_t i = 0; i < size; ++i) to.Set(i, i == place ? 1.0f : 0.0f);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AxisKernel<lathe::HardmaxOperation, lathe::KernelTypes<lathe::OtherFloats>>();
