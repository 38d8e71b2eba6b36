#include "native/opencl/elementwise.h"

namespace lathe {
namespace opencl {
namespace {

Code Plan(Node& node) {
  float alpha = 0.0f;
  LATHE_TRY(node.Float("alpha", &alpha));
  return EnqueueUnary(node, alpha);
}

}  // namespace
}  // namespace opencl
}  // namespace lathe

LATHE_OPENCL_UNIT(thresholded_relu) = {"thresholded_relu", "thresholded_relu", lathe::opencl::Plan};
