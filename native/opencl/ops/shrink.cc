#include "native/opencl/elementwise.h"

namespace lathe {
namespace opencl {
namespace {

Code Plan(Node& node) {
  float lambd = 0.0f, bias = 0.0f;
  LATHE_TRY(node.Float("lambd", &lambd));
  LATHE_TRY(node.Float("bias", &bias));
  return EnqueueUnary(node, lambd, bias);
}

}  // namespace
}  // namespace opencl
}  // namespace lathe

LATHE_OPENCL_UNIT(shrink) = {"shrink", "shrink", lathe::opencl::Plan};
