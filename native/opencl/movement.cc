#include "native/opencl/movement.h"

namespace lathe {
namespace opencl {
namespace {

// How many elements an axis of y has, and where a step along it leads in x: row, column, channel.
struct Step {
  int32_t size = 1;
  int32_t to[3] = {0, 0, 0};
};

// One step along an axis of a tensor.
void UnitStep(const Shape& shape, int axis, int32_t (&to)[3]) {
  const int place = axis - (shape.rank - 3);
  to[place < 0 ? 0 : place] = place <= 0 ? CountOf(shape, axis + 1, shape.rank - 2) : 1;
}

Step StepOf(const Shape& x, int64_t size, const Walk& walk) {
  Step step;
  step.size = static_cast<int32_t>(size);
  if (size == 1 || walk.axis < 0) return step;
  UnitStep(x, walk.axis, step.to);
  for (int32_t& way : step.to) way *= walk.step;
  return step;
}

// Whether two neighbouring axes can be walked along as one.
bool Joins(const Step& outer, const Step& inner) {
  for (int i = 0; i < 3; ++i) {
    if (outer.to[i] != inner.to[i] * inner.size) return false;
  }
  return true;
}

bool LiesInside(const Shape& x, const Shape& y, const Walk* walks, const int32_t* starts) {
  for (int axis = 0; axis < x.rank; ++axis) {
    int64_t lowest = starts[axis], highest = starts[axis];
    for (int i = 0; i < y.rank; ++i) {
      if (walks[i].axis != axis) continue;
      const int64_t way = (y.dims[i] - 1) * walks[i].step;
      (way < 0 ? lowest : highest) += way;
    }
    if (lowest < 0 || highest >= x.dims[axis]) return false;
  }
  return true;
}

void AddStep(Launch& launch, const Step& step) { launch.Ints(step.to); }

}  // namespace

int32_t CountOf(const Shape& shape, int begin, int end) {
  int32_t count = 1;
  for (int axis = begin; axis < end; ++axis) count *= static_cast<int32_t>(shape.dims[axis]);
  return count;
}

void BeginMove(Launch& launch, DeviceTensor& x, DeviceTensor& y, Together together) {
  launch.In(x).Out(y).Int(x.view.w).Int(y.view.c).Int(static_cast<int>(together));
}

Code EndMove(Launch& launch, const DeviceTensor& y) { return launch.Enqueue(y.view.w, y.view.height(), y.view.blocks); }

Code EnqueueWalk(Node& node, DeviceTensor& x, DeviceTensor& y, const Walk* walks, const int32_t* starts) {
  const Shape& from = x.shape;
  const Shape& shape = y.shape;
  if (!LiesInside(from, shape, walks, starts)) return node.Fail(Code::kBadModel, "reads outside of its input");
  Step start;
  for (int axis = 0; axis < from.rank; ++axis) {
    int32_t to[3] = {0, 0, 0};
    UnitStep(from, axis, to);
    for (int i = 0; i < 3; ++i) start.to[i] += to[i] * starts[axis];
  }
  Step rows[kMaxRank];
  int count = 0;
  for (int axis = 0; axis < shape.rank - 2; ++axis) {
    if (shape.dims[axis] == 1) continue;
    Step step = StepOf(from, shape.dims[axis], walks[axis]);
    if (count > 0 && Joins(rows[count - 1], step)) step.size *= rows[--count].size;
    rows[count++] = step;
  }
  if (count > kRowAxes) return node.Fail(Code::kUnsupported, "has too many axes");
  const int last = shape.rank - 1;
  Together together = Together::kNot;
  if (last >= 0 && from.rank > 0 && walks[last].axis == from.rank - 1 && walks[last].step == 1) {
    together = starts[from.rank - 1] % 4 == 0 ? Together::kInPixels : Together::kInRuns;
  }
  Launch launch(node, "move");
  BeginMove(launch, x, y, together);
  // Missing axes are outer ones with one element.
  const int missing = kRowAxes - count;
  for (int i = 1; i < kRowAxes; ++i) launch.Int(i < missing ? 1 : rows[i - missing].size);
  AddStep(launch, start);
  for (int i = 0; i < kRowAxes; ++i) AddStep(launch, i < missing ? Step() : rows[i - missing]);
  AddStep(launch, last >= 1 ? StepOf(from, shape.dims[last - 1], walks[last - 1]) : Step());
  AddStep(launch, last >= 0 ? StepOf(from, shape.dims[last], walks[last]) : Step());
  return EndMove(launch, y);
}

}  // namespace opencl
}  // namespace lathe
