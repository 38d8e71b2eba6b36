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

LATHE_OPENCL_UNIT(elu) = {"elu", "elu", lathe::opencl::Plan};
