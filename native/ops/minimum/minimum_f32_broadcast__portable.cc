// The smaller of both; NaN wins.
#include "native/core/broadcast.h"

namespace lathe {
namespace {

struct MinimumOperation : NoFinish<float> {
  float operator()(float a, float b) const { return a < b || a != a ? a : b; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(minimum_f32_broadcast__portable) =
    lathe::BinaryKernel<lathe::MinimumOperation>("minimum_f32_broadcast__portable", "minimum");
