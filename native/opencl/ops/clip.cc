#include "native/opencl/elementwise.h"

namespace lathe {
namespace opencl {

LATHE_OPENCL_PLAN(clip)(Node& node) {
  float low = 0.0f, high = 0.0f;
  LATHE_TRY(node.Float("low", &low));
  LATHE_TRY(node.Float("high", &high));
  return EnqueueUnary(node, low, high);
}

}  // namespace opencl
}  // namespace lathe
