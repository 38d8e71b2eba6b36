// Operators on two operands that broadcast: the kernel of binary.cl.
#include "native/opencl/read.h"
#include "native/opencl/unit.h"

namespace lathe {
namespace opencl {
namespace {

constexpr int kOperands = 2;
constexpr int kRowAxes = 4;

// A group of the axes that make up the rows of y, and how many rows an element of it is in each operand.
struct RowAxis {
  int32_t size = 1;
  int32_t steps[kOperands] = {};
};

int64_t SizeAlong(const Shape& operand, const Shape& y, int axis) {
  const int own = axis - (y.rank - operand.rank);
  return own < 0 ? 1 : operand.dims[own];
}

// 0 where the operand has one element for all.
int32_t StepAlong(const Shape& operand, const Shape& y, int axis) {
  if (SizeAlong(operand, y, axis) == 1) return 0;
  return static_cast<int32_t>(operand.Count(axis - (y.rank - operand.rank) + 1, operand.rank - 2));
}

bool Broadcasts(const Shape& a, const Shape& b, const Shape& y) {
  if (a.rank > y.rank || b.rank > y.rank) return false;
  for (int axis = 0; axis < y.rank; ++axis) {
    const int64_t first = SizeAlong(a, y, axis), second = SizeAlong(b, y, axis), size = y.dims[axis];
    if ((first != size && (first != 1 || second != size)) || (second != size && second != 1)) return false;
  }
  return true;
}

// As few as possible, the outer ones first. Returns how many there are.
int RowAxes(const Shape* const (&operands)[kOperands], const Shape& y, RowAxis* axes) {
  int count = 0;
  for (int axis = 0; axis < y.rank - 2; ++axis) {
    if (y.dims[axis] == 1) continue;
    RowAxis made;
    made.size = static_cast<int32_t>(y.dims[axis]);
    bool joins = count > 0;
    for (int i = 0; i < kOperands; ++i) {
      made.steps[i] = StepAlong(*operands[i], y, axis);
      joins = joins && axes[count - 1].steps[i] == made.steps[i] * made.size;
    }
    if (joins) made.size *= axes[--count].size;
    axes[count++] = made;
  }
  return count;
}

// A number, which the kernel is given as it is: it may be too small or too large for the numbers of the device.
bool IsNumber(const Node& node, int index) {
  const Tensor& host = node.host(index);
  return host.data != nullptr && host.dtype == DType::kF32 && host.packing == Packing::kNone && host.shape.Count() == 1;
}

void AddPlaces(Launch& launch, const View& operand, const View& y, int index, const RowAxis* axes, int count) {
  launch.Int(operand.w).Int(operand.w == y.w).Int(operand.c == y.c);
  for (int i = 0; i < count; ++i) launch.Int(axes[i].steps[index]);
}

// `activated`: the operator has an activation.
Code EnqueueBinary(Node& node, bool activated) {
  LATHE_TRY(CheckPixels(node, kOperands, 1));
  DeviceTensor& y = node.output(0);
  const Shape* const shapes[kOperands] = {&node.input(0).shape, &node.input(1).shape};
  if (!Broadcasts(*shapes[0], *shapes[1], y.shape)) {
    return node.Fail(Code::kBadModel, "its output does not have the shape that its inputs broadcast to");
  }
  RowAxis found[kMaxRank];
  int count = RowAxes(shapes, y.shape, found);
  if (count > kRowAxes) return node.Fail(Code::kUnsupported, "has too many axes");
  // Missing axes are outer ones with one element.
  RowAxis axes[kRowAxes];
  const int used = count > 1 ? kRowAxes : 1;
  for (int i = 0; i < count; ++i) axes[used - count + i] = found[i];
  const int scalar = IsNumber(node, 1) ? 1 : IsNumber(node, 0) ? 2 : 0;
  const int first = scalar == 2 ? 1 : 0;
  Launch launch(node, "binary");
  launch.Define("ROWS", used).Define("SCALAR", scalar).In(node.input(first));
  if (scalar == 0) {
    launch.In(node.input(1));
  } else {
    launch.Float(node.host(1 - first).As<float>()[0]);
  }
  launch.Out(y);
  AddPlaces(launch, node.input(first).view, y.view, first, axes, used);
  if (scalar == 0) AddPlaces(launch, node.input(1).view, y.view, 1, axes, used);
  launch.Int(y.view.c);
  for (int i = 1; i < used; ++i) launch.Int(axes[i].size);
  if (activated) launch.Activation();
  return launch.Enqueue(y.view.w, y.view.height(), y.view.blocks);
}

}  // namespace

LATHE_OPENCL_PLAN(binary)(Node& node) { return EnqueueBinary(node, false); }

LATHE_OPENCL_PLAN(activated_binary)(Node& node) { return EnqueueBinary(node, true); }

}  // namespace opencl
}  // namespace lathe
