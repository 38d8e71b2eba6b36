// The mean of each window of doubles, over the taps inside the image or inside the padded image; 0 where there are
// none.
#include "native/kernel/spatial/half_pool.h"

namespace lathe {
namespace {

struct MeanFold {
  bool count_include_pad;

  Code Read(const PrepareContext& context) { return ReadBool(context, "count_include_pad", &count_include_pad); }
  bool CountsPadding() const { return count_include_pad; }
  double Start() const { return 0.0; }
  double Add(double sum, double x) const { return sum + x; }
  double Finish(double sum, float taps) const { return sum / static_cast<double>(taps); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::DoublePoolKernel<lathe::MeanFold>();
