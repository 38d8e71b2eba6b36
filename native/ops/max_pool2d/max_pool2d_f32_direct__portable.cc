// The largest element of each window; padding never wins, NaN does.
#include "native/core/math.h"
#include "native/core/pool.h"

namespace lathe {
namespace {

struct MaxFold {
  Code Read(const PrepareContext&) { return Code::kOk; }
  void Start(float* to, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) to[i] = -HUGE_VALF;
  }
  void Add(float* to, const float* from, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i] > to[i] || from[i] != from[i] ? from[i] : to[i];
  }
  void Finish(float*, int64_t, int64_t, int64_t) const {}
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(max_pool2d_f32_direct__portable) = lathe::PoolKernel<lathe::MaxFold>("max_pool2d_f32_direct__portable",
                                                                                  "max_pool2d");
