#include "native/opencl/movement.h"
#include "native/opencl/read.h"

namespace lathe {
namespace opencl {
namespace {

Code CheckInputs(Node& node, int axis) {
  const Shape& y = node.output(0).shape;
  int64_t sum = 0;
  for (int i = 0; i < node.input_count(); ++i) {
    Shape shape = node.input(i).shape;
    if (shape.rank != y.rank) return node.Fail(Code::kBadModel, "an input has another rank than its output");
    sum += shape.dims[axis];
    shape.dims[axis] = y.dims[axis];
    if (shape != y) return node.Fail(Code::kBadModel, "the shapes of its inputs do not fit together");
  }
  return sum == y.dims[axis] ? Code::kOk : node.Fail(Code::kBadModel, "its inputs do not fill its output");
}

// Pixels of the output may hold channels of up to four inputs: a launch takes four that follow each other, and writes
// the pixels that they fill.
Code JoinChannels(Node& node) {
  constexpr int kAtOnce = 4;
  DeviceTensor& y = node.output(0);
  int32_t begin = 0;  // where input `first` begins
  for (int32_t first = 0, base = 0; base < y.view.blocks;) {
    for (; begin + node.input(first).view.c <= base * 4; ++first) begin += node.input(first).view.c;
    DeviceTensor* parts[kAtOnce];
    int32_t starts[kAtOnce] = {}, counts[kAtOnce] = {};
    int32_t end = begin;
    int taken = 0;
    for (int i = first; i < node.input_count() && taken < kAtOnce; ++i) {
      DeviceTensor& part = node.input(i);
      parts[taken] = &part;
      starts[taken] = end;
      counts[taken++] = part.view.c;
      end += part.view.c;
    }
    const int32_t next = end == y.view.c ? y.view.blocks : end / 4;
    Launch launch(node, "join");
    for (int i = 0; i < kAtOnce; ++i) launch.In(*parts[i < taken ? i : 0]);
    launch.Out(y).Int(base).Int(y.view.c);
    for (int32_t start : starts) launch.Int(start);
    for (int32_t count : counts) launch.Int(count);
    LATHE_TRY(launch.Enqueue(y.view.w, y.view.height(), next - base));
    base = next;
  }
  return Code::kOk;
}

Code PlacePixels(Node& node, int axis) {
  DeviceTensor& y = node.output(0);
  const int columns = y.shape.rank - 2;
  int32_t begin = 0;
  for (int i = 0; i < node.input_count(); ++i) {
    DeviceTensor& x = node.input(i);
    const int32_t size = static_cast<int32_t>(x.shape.dims[axis]);
    Launch launch(node, "place");
    launch.In(x).Out(y).Int(y.view.c).Int(y.view.w);
    if (axis == columns) {
      launch.Int(begin).Int(1).Int(1).Int(0);
    } else {
      const int32_t below = CountOf(y.shape, axis + 1, columns);
      launch.Int(0).Int(size * below).Int(CountOf(y.shape, axis, columns)).Int(begin * below);
    }
    LATHE_TRY(launch.Enqueue(x.view.w, x.view.height(), x.view.blocks));
    begin += size;
  }
  return Code::kOk;
}

}  // namespace

LATHE_OPENCL_PLAN(concat)(Node& node) {
  LATHE_TRY(CheckPixels(node, node.input_count(), 1));
  const Shape& y = node.output(0).shape;
  int32_t axis = 0;
  LATHE_TRY(ReadInt(node, "axis", 0, y.rank - 1, &axis));
  LATHE_TRY(CheckInputs(node, axis));
  return axis == y.rank - 1 ? JoinChannels(node) : PlacePixels(node, axis);
}

}  // namespace opencl
}  // namespace lathe
