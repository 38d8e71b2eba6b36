// The largest double of each window; padding never wins, NaN does.
#include "native/kernel/math/math.h"
#include "native/kernel/spatial/half_pool.h"

namespace lathe {
namespace {

struct MaxFold {
  Code Read(const PrepareContext&) { return Code::kOk; }
  bool CountsPadding() const { return false; }
  double Start() const { return -HUGE_VAL; }
  double Add(double best, double x) const { return x > best || x != x ? x : best; }
  double Finish(double best, float) const { return best; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::DoublePoolKernel<lathe::MaxFold>();
