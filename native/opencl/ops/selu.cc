#include "native/opencl/elementwise.h"

namespace lathe {
namespace opencl {
namespace {

Code Plan(Node& node) {
  float alpha = 0.0f, gamma = 0.0f;
  LATHE_TRY(node.Float("alpha", &alpha));
  LATHE_TRY(node.Float("gamma", &gamma));
  return EnqueueUnary(node, alpha, gamma);
}

}  // namespace
}  // namespace opencl
}  // namespace lathe

LATHE_OPENCL_UNIT(selu) = {"selu", "selu", lathe::opencl::Plan};
