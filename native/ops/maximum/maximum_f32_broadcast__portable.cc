// The larger of both; NaN wins.
#include "native/core/broadcast.h"

namespace lathe {
namespace {

struct MaximumOperation : NoFinish<float> {
  float operator()(float a, float b) const { return a > b || a != a ? a : b; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(maximum_f32_broadcast__portable) =
    lathe::BinaryKernel<lathe::MaximumOperation>("maximum_f32_broadcast__portable", "maximum");
