#include "native/opencl/norm.h"

namespace lathe {
namespace opencl {
namespace {

Code Plan(Node& node) { return PlanRowNorm(node, true); }

}  // namespace
}  // namespace opencl
}  // namespace lathe

LATHE_OPENCL_UNIT(layer_norm) = {"layer_norm", "layer_norm", lathe::opencl::Plan};
