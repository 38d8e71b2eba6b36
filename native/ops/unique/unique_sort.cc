// The different slices along an axis. The places of all slices are sorted by what stands there, so that equal slices
// stand together; of equal slices the first place comes first.
#include "native/kernel/loops/copy.h"
#include "native/kernel/math/convert.h"

namespace lathe {
namespace {

struct Slices;
using Comparer = int (*)(const Slices& slices, int64_t a, int64_t b);

struct State {
  int64_t axis;
  bool sorted;
  Comparer compare;
};

// A tensor as slices along an axis.
struct Slices {
  const void* data;
  int64_t count;
  int64_t outer;
  int64_t inner;
};

// Below 0 where slice a is the smaller one, above where it is the larger one. NaN is the largest number.
template <typename T>
int Compare(const Slices& slices, int64_t a, int64_t b) {
  const T* data = static_cast<const T*>(slices.data);
  for (int64_t outer = 0; outer < slices.outer; ++outer) {
    const T* left = data + (outer * slices.count + a) * slices.inner;
    const T* right = data + (outer * slices.count + b) * slices.inner;
    for (int64_t i = 0; i < slices.inner; ++i) {
      const auto x = Widen(left[i]);
      const auto y = Widen(right[i]);
      if (x < y) return -1;
      if (y < x) return 1;
      if ((x != x) != (y != y)) return x != x ? 1 : -1;
    }
  }
  return 0;
}

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 1, 1, 4));
  const Tensor& x = context.input(0);
  WithTypeOf(x.dtype, [&](auto* element) { state.compare = Compare<typename Pointee<decltype(element)>::Type>; });
  if (state.compare == nullptr || context.output(0).dtype != x.dtype) {
    return context.Fail(Code::kBadModel, "input and output differ in type");
  }
  LATHE_TRY(CheckRank(context, context.output(0), x.shape.rank, "its output"));
  for (int i = 1; i < 4; ++i) {
    if (context.output(i).dtype != DType::kS64) return context.Fail(Code::kBadModel, "its places are not s64");
    LATHE_TRY(CheckRank(context, context.output(i), 1, "its places"));
  }
  LATHE_TRY(ReadBool(context, "sorted", &state.sorted));
  return ReadInt(context, "axis", 0, x.shape.rank - 1, &state.axis);
}

Code PlanRun(PlanContext& context) {
  const int axis = static_cast<int>(static_cast<const State*>(context.state())->axis);
  Shape expected = context.input(0).shape;
  const int64_t count = expected[axis];
  const int64_t room = context.output(0).shape[axis];
  if (room < count) return context.Fail(Code::kBadModel, "its output has too little room");
  expected.dims[axis] = room;
  LATHE_TRY(CheckShape(context, 0, expected));
  LATHE_TRY(CheckShape(context, 1, {1, {room}}));
  LATHE_TRY(CheckShape(context, 2, {1, {count}}));
  LATHE_TRY(CheckShape(context, 3, {1, {room}}));
  if (count > kMaxPackedElements) return context.Fail(Code::kUnsupported, "it has too many slices");
  return RequestScratch(context, 2 * count * static_cast<int64_t>(sizeof(int64_t)));
}

struct Order {
  const Slices& slices;
  Comparer compare;

  bool Before(int64_t a, int64_t b) const {
    const int order = compare(slices, a, b);
    return order != 0 ? order < 0 : a < b;
  }
};

void SiftDown(const Order& order, int64_t* heap, int64_t at, int64_t count) {
  const int64_t place = heap[at];
  for (int64_t below = 2 * at + 1; below < count; below = 2 * at + 1) {
    if (below + 1 < count && order.Before(heap[below], heap[below + 1])) ++below;
    if (!order.Before(place, heap[below])) break;
    heap[at] = heap[below];
    at = below;
  }
  heap[at] = place;
}

void Sort(const Order& order, int64_t* places, int64_t count) {
  for (int64_t i = 0; i < count; ++i) places[i] = i;
  for (int64_t at = count / 2 - 1; at >= 0; --at) SiftDown(order, places, at, count);
  for (int64_t last = count - 1; last > 0; --last) {
    const int64_t largest = places[0];
    places[0] = places[last];
    places[last] = largest;
    SiftDown(order, places, 0, last);
  }
}

// Numbers the groups of equal slices in sorted order: the group of each slice, and the first place of each group.
int64_t Group(const Order& order, const int64_t* sorted, int64_t count, int64_t* group_of, int64_t* first) {
  int64_t groups = 0;
  for (int64_t i = 0; i < count; ++i) {
    const bool begins = i == 0 || order.compare(order.slices, sorted[i - 1], sorted[i]) != 0;
    if (begins) first[groups++] = sorted[i];
    group_of[sorted[i]] = groups - 1;
  }
  return groups;
}

// Renumbers the groups in the order of their first places. `scratch` holds the new number of each group.
void OrderByPlace(int64_t count, int64_t* group_of, int64_t* first, int64_t* scratch) {
  int64_t groups = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t group = group_of[i];
    if (first[group] == i) scratch[group] = groups++;
  }
  for (int64_t i = count - 1; i >= 0; --i) group_of[i] = scratch[group_of[i]];
  for (int64_t i = count - 1; i >= 0; --i) first[group_of[i]] = i;
}

void Run(const RunContext& context) {
  const State& state = context.State<State>();
  const int axis = static_cast<int>(state.axis);
  const Tensor& x = context.inputs[0];
  const int64_t count = x.shape[axis];
  const Slices slices = {x.data, count, x.shape.Count(0, axis), x.shape.Count(axis + 1, x.shape.rank)};
  const Order order = {slices, state.compare};
  int64_t* sorted = static_cast<int64_t*>(context.scratch);
  int64_t* first = context.outputs[1].As<int64_t>();
  int64_t* group_of = context.outputs[2].As<int64_t>();
  int64_t* counts = context.outputs[3].As<int64_t>();
  Sort(order, sorted, count);
  const int64_t groups = Group(order, sorted, count, group_of, first);
  if (!state.sorted) OrderByPlace(count, group_of, first, sorted + count);
  for (int64_t i = 0; i < groups; ++i) counts[i] = 0;
  for (int64_t i = 0; i < count; ++i) ++counts[group_of[i]];
  const int64_t bytes = slices.inner * static_cast<int64_t>(SizeOf(x.dtype));
  const char* from = static_cast<const char*>(x.data);
  char* to = static_cast<char*>(context.outputs[0].data);
  for (int64_t i = 0; i < groups; ++i) {
    CopyRows(context, from + first[i] * bytes, count * bytes, to + i * bytes, groups * bytes, slices.outer, bytes);
  }
  context.outputs[0].shape.dims[axis] = groups;
  context.outputs[1].shape.dims[0] = context.outputs[3].shape.dims[0] = groups;
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
