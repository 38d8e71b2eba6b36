// The attributes of clip, for all element types.
#ifndef LATHE_OPS_CLIP_CLIP_BOUNDS_H_
#define LATHE_OPS_CLIP_CLIP_BOUNDS_H_

#include "native/runtime/kernel.h"

namespace lathe {
namespace {

struct ClipBounds {
  float low;
  float high;

  Code Read(const PrepareContext& context) {
    LATHE_TRY(context.Float("low", &low));
    return context.Float("high", &high);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_CLIP_CLIP_BOUNDS_H_
