// The remainder of a / b, with the sign of b or, as C's fmod, of a.
#include "native/kernel/loops/broadcast.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct ModOperation : NoFinish<float> {
  bool fmod;

  Code Read(const PrepareContext& context) { return ReadBool(context, "fmod", &fmod); }
  float operator()(float a, float b) const { return fmod ? FmodOf(a, b) : FlooredModOf(a, b); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::BinaryKernel<lathe::ModOperation>();
