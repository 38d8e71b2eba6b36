#include "native/opencl/reduce.h"

namespace lathe {
namespace opencl {
namespace {

Code Plan(Node& node) { return EnqueueReduce(node, Folding::kMean); }

}  // namespace
}  // namespace opencl
}  // namespace lathe

LATHE_OPENCL_UNIT(reduce_mean) = {"reduce_mean", "reduce_mean", lathe::opencl::Plan};
