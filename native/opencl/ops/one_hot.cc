#include "native/opencl/movement.h"
#include "native/opencl/read.h"

namespace lathe {
namespace opencl {

LATHE_OPENCL_PLAN(one_hot)(Node& node) {
  if (node.input_count() != 2 || node.output_count() != 1) return node.Fail(Code::kBadModel, "has not two inputs");
  DeviceTensor& indices = node.input(0);
  DeviceTensor& values = node.input(1);
  DeviceTensor& y = node.output(0);
  const DType type = node.host(0).dtype;
  if (values.home == Home::kNumbers || y.home == Home::kNumbers || (type != DType::kS32 && type != DType::kS64)) {
    return node.Fail(Code::kUnsupported, "marks with other elements than floats, or has indices that are not integers");
  }
  int32_t axis = 0, depth = 0;
  LATHE_TRY(ReadInt(node, "axis", 0, indices.shape.rank, &axis));
  LATHE_TRY(ReadInt(node, "depth", 1, INT32_MAX, &depth));
  if (values.shape.Count() != 2 || y.shape.Count() != indices.shape.Count() * depth) {
    return node.Fail(Code::kBadModel, "its output has another shape than its indices and their depth");
  }
  Launch launch(node, "mark");
  launch.In(values).Out(y).In(indices).Int(y.view.c).Int(depth);
  launch.Int(CountOf(indices.shape, axis, indices.shape.rank));
  return launch.Enqueue(y.view.w, y.view.height(), y.view.blocks);
}

}  // namespace opencl
}  // namespace lathe
