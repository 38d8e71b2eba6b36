#include "native/opencl/movement.h"
#include "native/opencl/read.h"

namespace lathe {
namespace opencl {
namespace {

// Of constants; those that are computed are limited to the axis.
bool HasWrongIndex(const Tensor& indices, int64_t size) {
  const int64_t count = indices.data != nullptr ? indices.shape.Count() : 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t index = indices.dtype == DType::kS32 ? indices.As<int32_t>()[i] : indices.As<int64_t>()[i];
    if (index < -size || index >= size) return true;
  }
  return false;
}

}  // namespace

LATHE_OPENCL_PLAN(gather)(Node& node) {
  if (node.input_count() != 2 || node.output_count() != 1) return node.Fail(Code::kBadModel, "has not two inputs");
  DeviceTensor& x = node.input(0);
  DeviceTensor& indices = node.input(1);
  DeviceTensor& y = node.output(0);
  const DType type = node.host(1).dtype;
  if (x.home == Home::kNumbers || y.home == Home::kNumbers || (type != DType::kS32 && type != DType::kS64)) {
    return node.Fail(Code::kUnsupported, "moves other elements than floats, or has indices that are not integers");
  }
  int32_t axis = 0;
  LATHE_TRY(ReadInt(node, "axis", 0, x.shape.rank - 1, &axis));
  const int32_t count = CountOf(indices.shape, 0, indices.shape.rank);
  const int64_t size = x.shape[axis];
  const bool whole = axis < x.shape.rank - 1;
  const int64_t expected = x.shape.Count(0, axis) * count * x.shape.Count(axis + 1, x.shape.rank);
  if (y.shape.Count() != expected || (whole && x.view.c != y.view.c)) {
    return node.Fail(Code::kBadModel, "its output has another shape than what is gathered");
  }
  if (HasWrongIndex(node.host(1), size)) return node.Fail(Code::kBadModel, "an index is out of range");
  Launch launch(node, "move");
  BeginMove(launch, x, y, whole ? Together::kInPixels : Together::kNot);
  launch.In(indices).Int(count).Int(size);
  launch.Int(whole ? CountOf(x.shape, axis + 1, x.shape.rank - 1) : 1);
  launch.Int(whole ? 1 : x.view.c).Int(whole ? 1 : y.view.c);
  return EndMove(launch, y);
}

}  // namespace opencl
}  // namespace lathe
