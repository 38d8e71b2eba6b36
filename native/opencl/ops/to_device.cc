#include "native/opencl/node.h"
#include "native/opencl/unit.h"

namespace lathe {
namespace opencl {
namespace {

// The planner has checked both sides.
Code Plan(Node& node) {
  const View& size = node.output(0).view;
  Launch launch(node, "to_device");
  launch.In(node.input(0)).Out(node.output(0)).Int(size.w).Int(size.c);
  return launch.Enqueue(size.width(), size.height());
}

}  // namespace
}  // namespace opencl
}  // namespace lathe

LATHE_OPENCL_UNIT(to_device) = {"to_device", "to_device", lathe::opencl::Plan};
