// Places of elements along an axis: the kernel of place.cl.
#include "native/opencl/movement.h"
#include "native/opencl/read.h"
#include "native/opencl/unit.h"

namespace lathe {
namespace opencl {
namespace {

// Of the largest element, or with `sign` -1 of the smallest.
Code EnqueuePlace(Node& node, float sign) {
  if (node.input_count() != 1 || node.output_count() != 1) return node.Fail(Code::kBadModel, "has not one input");
  DeviceTensor& x = node.input(0);
  DeviceTensor& y = node.output(0);
  if (x.home == Home::kNumbers || y.home != Home::kNumbers) {
    return node.Fail(Code::kUnsupported, "finds no places of floats");
  }
  int32_t axis = 0, later = 0;
  LATHE_TRY(ReadInt(node, "axis", 0, x.shape.rank - 1, &axis));
  LATHE_TRY(ReadInt(node, "select_last_index", 0, 1, &later));
  const int32_t size = static_cast<int32_t>(x.shape[axis]);
  const int64_t count = y.shape.Count();
  if (count * size != x.shape.Count()) {
    return node.Fail(Code::kBadModel, "its output has another shape than its input without an axis");
  }
  const int rank = x.shape.rank;
  Launch launch(node, "find_place");
  launch.In(x).Out(y).Int(x.view.w).Int(x.view.c).Int(size).Int(CountOf(x.shape, axis + 1, rank));
  launch.Int(axis < rank - 2 ? CountOf(x.shape, axis + 1, rank - 2) : 0).Int(axis == rank - 2).Int(axis == rank - 1);
  launch.Int(later).Float(sign);
  const int32_t across = axis == rank - 1 ? x.view.w : x.view.c;
  return launch.Enqueue(across, count / across);
}

}  // namespace

LATHE_OPENCL_PLAN(argmax)(Node& node) { return EnqueuePlace(node, 1.0f); }

LATHE_OPENCL_PLAN(argmin)(Node& node) { return EnqueuePlace(node, -1.0f); }

}  // namespace opencl
}  // namespace lathe
