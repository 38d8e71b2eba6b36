#include "native/opencl/border.h"
#include "native/opencl/unit.h"

namespace lathe {
namespace opencl {
namespace {

// The planner has checked both sides.
Code Plan(Node& node) { return EnqueueBorder(node, "from_device", node.input(0), node.output(0), node.input(0).view); }

}  // namespace
}  // namespace opencl
}  // namespace lathe

LATHE_OPENCL_UNIT(from_device) = {"from_device", "from_device", lathe::opencl::Plan};
