// Limits to [low, high], either of which may be infinite; NaN stays NaN.
#include "native/core/activation.h"
#include "native/core/elementwise.h"

namespace lathe {
namespace {

struct ClipOperation {
  float low;
  float high;

  Code Read(const PrepareContext& context) {
    LATHE_TRY(context.Float("low", &low));
    return context.Float("high", &high);
  }
  float operator()(float x) const { return Clip(x, low, high); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(clip_f32_simple__portable) = lathe::UnaryKernel<lathe::ClipOperation>("clip_f32_simple__portable", "clip");
