#include "native/opencl/elementwise.h"

namespace lathe {
namespace opencl {

Code EnqueueUnary(Node& node, float a, float b) {
  if (node.input_count() != 1 || node.output_count() != 1) return node.Fail(Code::kBadModel, "is not unary");
  DeviceTensor& x = node.input(0);
  DeviceTensor& y = node.output(0);
  if (x.shape != y.shape) return node.Fail(Code::kBadModel, "its output has another shape than its input");
  Launch launch(node, "unary");
  launch.In(x).Out(y).Int(y.view.w).Int(y.view.c).Float(a).Float(b);
  return launch.Enqueue(y.view.width(), y.view.height());
}

}  // namespace opencl
}  // namespace lathe
