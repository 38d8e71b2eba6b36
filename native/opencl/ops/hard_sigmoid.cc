#include "native/opencl/elementwise.h"

namespace lathe {
namespace opencl {

LATHE_OPENCL_PLAN(hard_sigmoid)(Node& node) {
  float alpha = 0.0f, beta = 0.0f;
  LATHE_TRY(node.Float("alpha", &alpha));
  LATHE_TRY(node.Float("beta", &beta));
  return EnqueueUnary(node, alpha, beta);
}

}  // namespace opencl
}  // namespace lathe
