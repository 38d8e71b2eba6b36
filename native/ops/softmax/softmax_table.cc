// e^(x - max) divided by its sum along one axis of bytes. A difference to the largest byte has 256 values: their powers
// are whole numbers of a table, whose sums are exact in any order.
#include "native/kernel/loops/axis.h"
#include "native/kernel/math/math64.h"
#include "native/kernel/quantised/quantised_tensors.h"

namespace lathe {
namespace {

struct SoftmaxBytes {
  static constexpr double kOne = 1073741824.0;  // 2^30

  uint32_t powers[256];  // e^(-i * scale), kOne is 1
  double y_scale;
  Steps steps;

  Code Read(const PrepareContext& context) {
    Stored x = {}, y = {};
    LATHE_TRY(ReadStored(context, context.input(0), &x));
    LATHE_TRY(ReadStored(context, context.output(0), &y));
    for (int i = 0; i < 256; ++i) {
      powers[i] = static_cast<uint32_t>(Exp64(-i * static_cast<double>(x.scale)) * kOne + 0.5);
    }
    y_scale = static_cast<double>(y.scale);
    steps = WholeSteps(y.zero);
    return Code::kOk;
  }

  template <typename T, typename To>
  void operator()(const Source<T>& from, const Target<To>& to, int64_t size) const {
    int best = from[0];
    for (int64_t i = 1; i < size; ++i) best = from[i] > best ? from[i] : best;
    uint64_t sum = 0;
    for (int64_t i = 0; i < size; ++i) sum += powers[best - from[i]];
    // Of one step of the table; at least the largest element is in the sum.
    const float factor = static_cast<float>(1.0 / (static_cast<double>(sum) * y_scale));
    for (int64_t i = 0; i < size; ++i) {
      to.Set(i, ByteOf(static_cast<float>(powers[best - from[i]]) * factor, steps));
    }
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AxisKernel<lathe::SoftmaxBytes, lathe::Types<int8_t>>();
