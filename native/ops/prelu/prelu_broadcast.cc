// x, or slope * x where x is negative.
#include "native/kernel/loops/broadcast.h"

namespace lathe {
namespace {

struct PreluOperation : NoFinish<float> {
  float operator()(float x, float slope) const { return x < 0.0f ? slope * x : x; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::BinaryKernel<lathe::PreluOperation>();
