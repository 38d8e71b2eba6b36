#include "native/opencl/read.h"
#include "native/opencl/unit.h"

namespace lathe {
namespace opencl {

LATHE_OPENCL_PLAN(batch_norm)(Node& node) {
  constexpr int kInputs = 5;
  LATHE_TRY(CheckPixels(node, kInputs, 1));
  DeviceTensor& x = node.input(0);
  DeviceTensor& y = node.output(0);
  bool fits = x.shape == y.shape;
  for (int i = 1; i < kInputs; ++i) fits = fits && node.input(i).shape.rank == 1 && node.input(i).view.c == x.view.c;
  if (!fits) return node.Fail(Code::kBadModel, "the shapes of its tensors do not fit each other");
  float epsilon = 0.0f;
  LATHE_TRY(node.Float("epsilon", &epsilon));
  Launch launch(node, "batch_norm");
  for (int i = 0; i < kInputs; ++i) launch.In(node.input(i));
  launch.Out(y).Int(y.view.c).Float(epsilon);
  return launch.Enqueue(y.view.w, y.view.height(), y.view.blocks);
}

}  // namespace opencl
}  // namespace lathe
