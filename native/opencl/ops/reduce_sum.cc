#include "native/opencl/reduce.h"

namespace lathe {
namespace opencl {
namespace {

Code Plan(Node& node) { return EnqueueReduce(node, Folding::kSum); }

}  // namespace
}  // namespace opencl
}  // namespace lathe

LATHE_OPENCL_UNIT(reduce_sum) = {"reduce_sum", "reduce_sum", lathe::opencl::Plan};
