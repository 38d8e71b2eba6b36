// The mean of each window, over the taps inside the image or inside the padded image; 0 where there are none.
#include "native/kernel/simd/simd.h"
#include "native/kernel/spatial/pool.h"

namespace lathe {
namespace {

struct MeanFold {
  bool count_include_pad;

  Code Read(const PrepareContext& context) { return ReadBool(context, "count_include_pad", &count_include_pad); }
  bool CountsPadding() const { return count_include_pad; }
  Vec Start() const { return Fill(0.0f); }
  Vec Add(Vec sum, Vec x) const { return lathe::Add(sum, x); }
  Vec Finish(Vec sum, float taps) const { return Div(sum, Fill(taps)); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::PoolKernel<lathe::MeanFold>();
