// The largest half of each window; padding never wins, NaN does.
#include "native/kernel/math/math.h"
#include "native/kernel/spatial/half_pool.h"

namespace lathe {
namespace {

struct MaxFold {
  Code Read(const PrepareContext&) { return Code::kOk; }
  bool CountsPadding() const { return false; }
  float Start() const { return -HUGE_VALF; }
  float Add(float best, float x) const { return x > best || x != x ? x : best; }
  float Finish(float best, float) const { return best; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::HalfPoolKernel<lathe::MaxFold>();
