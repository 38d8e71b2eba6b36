// x less the logarithm of the sum of e^x along one axis; the largest element is taken off first.
#include "native/kernel/kernel_types.h"
#include "native/kernel/loops/axis.h"
#include "native/kernel/math/math64.h"

namespace lathe {
namespace {

struct LogSoftmaxOperation : NoAttributes {
  template <typename T, typename To>
  void operator()(const Source<T>& from, const Target<To>& to, int64_t size) const {
    double best = from[0];
    for (int64_t i = 1; i < size; ++i) best = from[i] > best ? from[i] : best;
    double sum = 0.0;
    for (int64_t i = 0; i < size; ++i) sum += Exp64(from[i] - best);
    const double logarithm = Log64(sum);
    for (int64_t i = 0; i < size; ++i) to.Set(i, from[i] - best - logarithm);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AxisKernel<lathe::LogSoftmaxOperation, lathe::KernelTypes<lathe::OtherFloats>>();
