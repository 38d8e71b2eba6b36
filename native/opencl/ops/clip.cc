#include "native/opencl/elementwise.h"

namespace lathe {
namespace opencl {
namespace {

Code Plan(Node& node) {
  float low = 0.0f, high = 0.0f;
  LATHE_TRY(node.Float("low", &low));
  LATHE_TRY(node.Float("high", &high));
  return EnqueueUnary(node, low, high);
}

}  // namespace
}  // namespace opencl
}  // namespace lathe

LATHE_OPENCL_UNIT(clip) = {"clip", "clip", lathe::opencl::Plan};
