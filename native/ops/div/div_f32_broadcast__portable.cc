// a / b.
#include "native/core/broadcast.h"

namespace lathe {
namespace {

struct DivOperation : NoFinish<float> {
  float operator()(float a, float b) const { return a / b; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(div_f32_broadcast__portable) = lathe::BinaryKernel<lathe::DivOperation>("div_f32_broadcast__portable",
                                                                                     "div");
