#include "native/opencl/elementwise.h"

namespace lathe {
namespace opencl {
namespace {

Code Plan(Node& node) {
  float alpha;
  LATHE_TRY(node.Float("alpha", &alpha));
  return EnqueueUnary(node, alpha);
}

}  // namespace
}  // namespace opencl
}  // namespace lathe

LATHE_OPENCL_UNIT(leaky_relu) = {"leaky_relu", "leaky_relu", lathe::opencl::Plan};
