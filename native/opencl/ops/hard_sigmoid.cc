#include "native/opencl/elementwise.h"

namespace lathe {
namespace opencl {
namespace {

Code Plan(Node& node) {
  float alpha = 0.0f, beta = 0.0f;
  LATHE_TRY(node.Float("alpha", &alpha));
  LATHE_TRY(node.Float("beta", &beta));
  return EnqueueUnary(node, alpha, beta);
}

}  // namespace
}  // namespace opencl
}  // namespace lathe

LATHE_OPENCL_UNIT(hard_sigmoid) = {"hard_sigmoid", "hard_sigmoid", lathe::opencl::Plan};
