#include "native/opencl/elementwise.h"
#include "native/opencl/read.h"

namespace lathe {
namespace opencl {

LATHE_OPENCL_PLAN(gelu)(Node& node) {
  int32_t approximate = 0;
  LATHE_TRY(ReadChoice(node, "approximate", "none tanh", &approximate));
  return EnqueueUnary(node, static_cast<float>(approximate));
}

}  // namespace opencl
}  // namespace lathe
