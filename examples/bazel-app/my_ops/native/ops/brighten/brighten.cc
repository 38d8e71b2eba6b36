// brighten: y = min(gain * x, 1).
#include "native/kernel/loops/elementwise.h"
#include "native/ops/brighten/brightness.h"

namespace lathe {
namespace {

// The state of a node: what `Read` makes of its attributes. It is made once, when the engine is created.
struct BrightenOperation {
  float gain;

  Code Read(const PrepareContext& context) { return context.Float("gain", &gain); }
  float operator()(float x) const {
    const float bright = gain * x;
    return bright < brightness::kWhite ? bright : brightness::kWhite;
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::UnaryKernel<lathe::BrightenOperation>();
