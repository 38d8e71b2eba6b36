// x, or slope * x where x is negative.
#include "native/core/broadcast.h"

namespace lathe {
namespace {

struct PreluOperation : NoFinish<float> {
  float operator()(float x, float slope) const { return x < 0.0f ? slope * x : x; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(prelu_f32_broadcast__portable) =
    lathe::BinaryKernel<lathe::PreluOperation>("prelu_f32_broadcast__portable", "prelu");
