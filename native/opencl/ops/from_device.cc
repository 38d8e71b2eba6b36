#include "native/opencl/node.h"
#include "native/opencl/unit.h"

namespace lathe {
namespace opencl {
namespace {

// The planner has checked both sides.
Code Plan(Node& node) {
  const View& size = node.input(0).view;
  Launch launch(node, "from_device");
  launch.In(node.input(0)).Out(node.output(0)).Int(size.w).Int(size.c);
  return launch.Enqueue(size.width(), size.height());
}

}  // namespace
}  // namespace opencl
}  // namespace lathe

LATHE_OPENCL_UNIT(from_device) = {"from_device", "from_device", lathe::opencl::Plan};
