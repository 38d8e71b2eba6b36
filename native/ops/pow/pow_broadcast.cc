// a to the power of b, with the special cases of C.
#include "native/kernel/loops/broadcast.h"
#include "native/kernel/math/math.h"

namespace lathe {
namespace {

struct PowOperation : NoFinish<float> {
  float operator()(float a, float b) const { return Powf(a, b); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::BinaryKernel<lathe::PowOperation>();
