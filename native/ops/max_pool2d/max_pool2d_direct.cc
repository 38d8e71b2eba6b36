// The largest element of each window; padding never wins, NaN does.
#include "native/kernel/math/math.h"
#include "native/kernel/simd/simd.h"
#include "native/kernel/spatial/pool.h"

namespace lathe {
namespace {

struct MaxFold {
  Code Read(const PrepareContext&) { return Code::kOk; }
  bool CountsPadding() const { return false; }
  Vec Start() const { return Fill(-HUGE_VALF); }
  Vec Add(Vec best, Vec x) const { return Larger(best, x); }
  Vec Finish(Vec best, float) const { return best; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::PoolKernel<lathe::MaxFold>();
