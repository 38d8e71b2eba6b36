#include "native/opencl/reduce.h"

namespace lathe {
namespace opencl {
namespace {

Code Plan(Node& node) { return EnqueueReduce(node, Folding::kExtreme); }

}  // namespace
}  // namespace opencl
}  // namespace lathe

LATHE_OPENCL_UNIT(reduce_max) = {"reduce_max", "reduce_max", lathe::opencl::Plan};
