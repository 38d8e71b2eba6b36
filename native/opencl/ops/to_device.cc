#include "native/opencl/border.h"
#include "native/opencl/unit.h"

namespace lathe {
namespace opencl {
namespace {

// The planner has checked both sides.
Code Plan(Node& node) { return EnqueueBorder(node, "to_device", node.input(0), node.output(0), node.output(0).view); }

}  // namespace
}  // namespace opencl
}  // namespace lathe

LATHE_OPENCL_UNIT(to_device) = {"to_device", "to_device", lathe::opencl::Plan};
