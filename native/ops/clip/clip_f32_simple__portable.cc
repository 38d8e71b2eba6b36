// Limits to [low, high], either of which may be infinite; NaN stays NaN.
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/core/vector_elementwise.h"
#include "native/core/vector_functions.h"

namespace lathe {
namespace {

struct ClipOperation {
  float low;
  float high;

  Code Read(const PrepareContext& context) {
    LATHE_TRY(context.Float("low", &low));
    return context.Float("high", &high);
  }
  Vec operator()(Vec x) const { return Clip(x, Fill(low), Fill(high)); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(clip_f32_simple__portable) = lathe::VectorUnaryKernel<lathe::ClipOperation>("clip_f32_simple__portable",
                                                                                         "clip");
