// a * b.
#include "native/core/broadcast.h"

namespace lathe {
namespace {

struct MulOperation : NoFinish<float> {
  float operator()(float a, float b) const { return a * b; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(mul_f32_broadcast__portable) = lathe::BinaryKernel<lathe::MulOperation>("mul_f32_broadcast__portable",
                                                                                     "mul");
