#include "native/opencl/fold.h"
#include "native/opencl/read.h"

namespace lathe {
namespace opencl {

LATHE_OPENCL_PLAN(pad)(Node& node) {
  int32_t before[kMaxRank], mode = 0;
  float value = 0.0f;
  LATHE_TRY(CheckPixels(node, 1, 1));
  LATHE_TRY(ReadInts(node, "before", 0, kMostExtent, node.input(0).shape.rank, before));
  LATHE_TRY(ReadChoice(node, "mode", "constant reflect edge wrap", &mode));
  LATHE_TRY(node.Float("value", &value));
  return EnqueueFold(node, static_cast<Border>(mode), before, value);
}

}  // namespace opencl
}  // namespace lathe
