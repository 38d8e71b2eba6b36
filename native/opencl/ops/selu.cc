#include "native/opencl/elementwise.h"

namespace lathe {
namespace opencl {

LATHE_OPENCL_PLAN(selu)(Node& node) {
  float alpha = 0.0f, gamma = 0.0f;
  LATHE_TRY(node.Float("alpha", &alpha));
  LATHE_TRY(node.Float("gamma", &gamma));
  return EnqueueUnary(node, alpha, gamma);
}

}  // namespace opencl
}  // namespace lathe
