#include "native/opencl/read.h"
#include "native/opencl/unit.h"

namespace lathe {
namespace opencl {

LATHE_OPENCL_PLAN(lrn)(Node& node) {
  LATHE_TRY(CheckPixels(node, 1, 1));
  DeviceTensor& x = node.input(0);
  DeviceTensor& y = node.output(0);
  if (x.shape != y.shape) return node.Fail(Code::kBadModel, "its output has another shape than its input");
  int32_t size = 0;
  float alpha = 0.0f, beta = 0.0f, bias = 0.0f;
  LATHE_TRY(ReadInt(node, "size", 1, kMostExtent, &size));
  LATHE_TRY(node.Float("alpha", &alpha));
  LATHE_TRY(node.Float("beta", &beta));
  LATHE_TRY(node.Float("bias", &bias));
  const int32_t before = (size - 1) / 2;
  Launch launch(node, "lrn");
  launch.In(x).Out(y).Int(y.view.c).Int(before).Int(size - 1 - before);
  launch.Float(alpha / static_cast<float>(size)).Float(beta).Float(bias);
  return launch.Enqueue(y.view.w, y.view.height(), y.view.blocks);
}

}  // namespace opencl
}  // namespace lathe
