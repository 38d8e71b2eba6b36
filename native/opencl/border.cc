#include "native/opencl/border.h"

#include "native/opencl/unit.h"

namespace lathe {
namespace opencl {

Code EnqueueBorder(Node& node, const char* function, DeviceTensor& x, DeviceTensor& y, const View& size) {
  Launch launch(node, function);
  launch.In(x).Out(y).Int(size.w).Int(size.c);
  return launch.Enqueue(size.width(), size.height());
}

// The planner has checked both sides of these.

LATHE_OPENCL_PLAN(to_device)(Node& node) {
  return EnqueueBorder(node, "to_device", node.input(0), node.output(0), node.output(0).view);
}

LATHE_OPENCL_PLAN(from_device)(Node& node) {
  return EnqueueBorder(node, "from_device", node.input(0), node.output(0), node.input(0).view);
}

}  // namespace opencl
}  // namespace lathe
