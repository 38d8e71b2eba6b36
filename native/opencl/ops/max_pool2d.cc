#include "native/opencl/pool.h"

namespace lathe {
namespace opencl {
namespace {

Code Plan(Node& node) { return EnqueuePool(node, false); }

}  // namespace
}  // namespace opencl
}  // namespace lathe

LATHE_OPENCL_UNIT(max_pool2d) = {"max_pool2d", "max_pool2d", lathe::opencl::Plan};
