#include "native/opencl/movement.h"
#include "native/opencl/read.h"

namespace lathe {
namespace opencl {

LATHE_OPENCL_PLAN(reshape)(Node& node) {
  LATHE_TRY(CheckPixels(node, 1, 1));
  DeviceTensor& x = node.input(0);
  DeviceTensor& y = node.output(0);
  if (x.shape.Count() != y.shape.Count()) return node.Fail(Code::kBadModel, "does not keep the count of elements");
  const bool whole = x.view.c == y.view.c || (x.view.c % 4 == 0 && y.view.c % 4 == 0);
  Launch launch(node, "move");
  BeginMove(launch, x, y, whole ? Together::kInPixels : Together::kNot);
  launch.Int(whole ? x.view.blocks : x.view.c).Int(whole ? y.view.blocks : y.view.c);
  return EndMove(launch, y);
}

}  // namespace opencl
}  // namespace lathe
