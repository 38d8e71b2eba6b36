// The largest element of each window; padding never wins, NaN does. The header of an
// instruction set goes before this one.
#ifndef LATHE_OPS_MAX_POOL2D_MAX_POOL2D_F32_DIRECT_H_
#define LATHE_OPS_MAX_POOL2D_MAX_POOL2D_F32_DIRECT_H_

#include "native/core/math.h"
#include "native/core/pool.h"

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

#endif  // LATHE_OPS_MAX_POOL2D_MAX_POOL2D_F32_DIRECT_H_
