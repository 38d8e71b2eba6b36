#include "native/opencl/elementwise.h"

namespace lathe {
namespace opencl {

LATHE_OPENCL_PLAN(shrink)(Node& node) {
  float lambd = 0.0f, bias = 0.0f;
  LATHE_TRY(node.Float("lambd", &lambd));
  LATHE_TRY(node.Float("bias", &bias));
  return EnqueueUnary(node, lambd, bias);
}

}  // namespace opencl
}  // namespace lathe
