// Limits to [low, high], either of which may be infinite; NaN stays NaN.
#include "native/kernel/loops/vector_elementwise.h"
#include "native/kernel/simd/simd.h"
#include "native/ops/clip/clip_bounds.h"

namespace lathe {
namespace {

struct ClipOperation : ClipBounds {
  Vec operator()(Vec x) const { return AtLeast(AtMost(x, Fill(high)), Fill(low)); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::VectorUnaryKernel<lathe::ClipOperation>();
