#include "native/opencl/pool.h"

namespace lathe {
namespace opencl {
namespace {

Code Plan(Node& node) {
  int64_t counts_padding = 0;
  LATHE_TRY(node.Int("count_include_pad", &counts_padding));
  return EnqueuePool(node, counts_padding != 0);
}

}  // namespace
}  // namespace opencl
}  // namespace lathe

LATHE_OPENCL_UNIT(avg_pool2d) = {"avg_pool2d", "avg_pool2d", lathe::opencl::Plan};
