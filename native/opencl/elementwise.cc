#include "native/opencl/elementwise.h"

#include "native/opencl/read.h"

namespace lathe {
namespace opencl {

Code EnqueueUnary(Node& node, float a, float b) {
  LATHE_TRY(CheckPixels(node, 1, 1));
  DeviceTensor& x = node.input(0);
  DeviceTensor& y = node.output(0);
  if (x.shape != y.shape) return node.Fail(Code::kBadModel, "its output has another shape than its input");
  Launch launch(node, "unary");
  launch.In(x).Out(y).Int(y.view.w).Int(y.view.c).Float(a).Float(b);
  return launch.Enqueue(y.view.width(), y.view.height());
}

// The function has no parameters.
LATHE_OPENCL_PLAN(unary)(Node& node) { return EnqueueUnary(node); }

// Its one parameter is the attribute `alpha`.
LATHE_OPENCL_PLAN(unary_with_alpha)(Node& node) {
  float alpha = 0.0f;
  LATHE_TRY(node.Float("alpha", &alpha));
  return EnqueueUnary(node, alpha);
}

}  // namespace opencl
}  // namespace lathe
