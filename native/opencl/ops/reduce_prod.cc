#include "native/opencl/reduce.h"

namespace lathe {
namespace opencl {
namespace {

Code Plan(Node& node) { return EnqueueReduce(node, Folding::kProduct); }

}  // namespace
}  // namespace opencl
}  // namespace lathe

LATHE_OPENCL_UNIT(reduce_prod) = {"reduce_prod", "reduce_prod", lathe::opencl::Plan};
