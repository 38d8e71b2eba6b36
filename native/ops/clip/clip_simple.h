// Limits to [low, high], either of which may be infinite; NaN stays NaN. The header of an instruction set goes before
// this one.
#ifndef LATHE_OPS_CLIP_CLIP_SIMPLE_H_
#define LATHE_OPS_CLIP_CLIP_SIMPLE_H_

#include "native/core/vector_elementwise.h"
#include "native/ops/clip/clip_bounds.h"

namespace lathe {
namespace {

struct ClipOperation : ClipBounds {
  Vec operator()(Vec x) const { return AtLeast(AtMost(x, Fill(high)), Fill(low)); }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_CLIP_CLIP_SIMPLE_H_
