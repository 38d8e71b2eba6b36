// a to the power of b, with the special cases of C.
#include "native/core/broadcast.h"
#include "native/core/math.h"

namespace lathe {
namespace {

struct PowOperation : NoFinish<float> {
  float operator()(float a, float b) const { return Powf(a, b); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(pow_f32_broadcast__portable) = lathe::BinaryKernel<lathe::PowOperation>("pow_f32_broadcast__portable",
                                                                                     "pow");
