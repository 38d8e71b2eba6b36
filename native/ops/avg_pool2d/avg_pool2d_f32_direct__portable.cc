// The mean of each window, over the taps inside the image or inside the padded image; 0 where there are none.
#include "native/core/pool.h"

namespace lathe {
namespace {

struct MeanFold {
  bool count_include_pad;

  Code Read(const PrepareContext& context) { return ReadBool(context, "count_include_pad", &count_include_pad); }
  void Start(float* to, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) to[i] = 0.0f;
  }
  void Add(float* to, const float* from, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) to[i] += from[i];
  }
  void Finish(float* to, int64_t count, int64_t inside, int64_t padded) const {
    const int64_t taps = count_include_pad ? padded : inside;
    const float divisor = static_cast<float>(taps > 0 ? taps : 1);
    for (int64_t i = 0; i < count; ++i) to[i] /= divisor;
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(avg_pool2d_f32_direct__portable) = lathe::PoolKernel<lathe::MeanFold>("avg_pool2d_f32_direct__portable",
                                                                                   "avg_pool2d");
