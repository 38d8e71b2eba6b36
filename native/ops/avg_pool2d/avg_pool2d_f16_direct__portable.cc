// The mean of each window of halves, over the taps inside the image or inside the padded image; 0 where there are none.
#include "native/kernel/spatial/half_pool.h"

namespace lathe {
namespace {

struct MeanFold {
  bool count_include_pad;

  Code Read(const PrepareContext& context) { return ReadBool(context, "count_include_pad", &count_include_pad); }
  bool CountsPadding() const { return count_include_pad; }
  float Start() const { return 0.0f; }
  float Add(float sum, float x) const { return sum + x; }
  float Finish(float sum, float taps) const { return sum / taps; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::HalfPoolKernel<lathe::MeanFold>();
