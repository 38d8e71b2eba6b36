#include "native/opencl/elementwise.h"
#include "native/opencl/read.h"

namespace lathe {
namespace opencl {
namespace {

Code Plan(Node& node) {
  int32_t approximate = 0;
  LATHE_TRY(ReadChoice(node, "approximate", "none tanh", &approximate));
  return EnqueueUnary(node, static_cast<float>(approximate));
}

}  // namespace
}  // namespace opencl
}  // namespace lathe

LATHE_OPENCL_UNIT(gelu) = {"gelu", "gelu", lathe::opencl::Plan};
