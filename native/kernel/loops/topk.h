// The best elements along an axis: a heap of places with the worst of those kept at its root, sorted at the end.
#ifndef LATHE_KERNEL_LOOPS_TOPK_H_
#define LATHE_KERNEL_LOOPS_TOPK_H_

#include "native/kernel/check.h"
#include "native/kernel/loops/typed.h"

namespace lathe {
namespace {

// Along a line of elements that are `stride` apart: whether the one at place a is chosen before the one at b. NaN
// counts as the largest number; of equal elements the one at the lower place is chosen.
template <typename T>
struct TopkOrder {
  const T* line;
  int64_t stride;
  bool largest;

  bool Before(int64_t a, int64_t b) const {
    const auto left = Widen(line[a * stride]);
    const auto right = Widen(line[b * stride]);
    const bool left_is_nan = left != left;
    const bool right_is_nan = right != right;
    if (left_is_nan || right_is_nan) return left_is_nan != right_is_nan ? left_is_nan == largest : a < b;
    if (left == right) return a < b;
    return (left > right) == largest;
  }
};

// Moves the place at the root down to where none below it is chosen later.
template <typename T>
inline void SiftDown(const TopkOrder<T>& order, int64_t* heap, int64_t count) {
  const int64_t place = heap[0];
  int64_t at = 0;
  for (;;) {
    int64_t below = 2 * at + 1;
    if (below >= count) break;
    if (below + 1 < count && order.Before(heap[below], heap[below + 1])) ++below;
    if (!order.Before(place, heap[below])) break;
    heap[at] = heap[below];
    at = below;
  }
  heap[at] = place;
}

// The first k places of a line of n elements in the order, best first; k <= n.
template <typename T>
inline void FindTopk(const TopkOrder<T>& order, int64_t n, int64_t k, int64_t* heap) {
  for (int64_t place = 0; place < k; ++place) {  // places come in rising order: each is moved up
    int64_t at = place;
    for (; at > 0 && order.Before(heap[(at - 1) / 2], place); at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
    heap[at] = place;
  }
  for (int64_t place = k; place < n; ++place) {
    if (!order.Before(place, heap[0])) continue;
    heap[0] = place;
    SiftDown(order, heap, k);
  }
  for (int64_t count = k - 1; count > 0; --count) {
    const int64_t worst = heap[0];
    heap[0] = heap[count];
    heap[count] = worst;
    SiftDown(order, heap, count);
  }
}

struct TopkState {
  int64_t axis;
  bool largest;
  void (*run)(const RunContext& context, int64_t k);
};

// The first k of every line. The outputs have their shape already.
template <typename T>
struct TopkOf {
  static void Apply(const RunContext& context, int64_t k) {
    const TopkState& state = context.State<TopkState>();
    const int axis = static_cast<int>(state.axis);
    const Shape& in = context.inputs[0].shape;
    const T* from = context.inputs[0].As<T>();
    T* values = context.outputs[0].As<T>();
    int64_t* places = context.outputs[1].As<int64_t>();
    int64_t* scratch = static_cast<int64_t*>(context.scratch);
    const int64_t n = in[axis];
    const int64_t stride = in.Count(axis + 1, in.rank);
    const bool largest = state.largest;
    if (k == 0 || in.Count() == 0) return;
    const int64_t grain = kElementGrain / (n < kElementGrain ? n : kElementGrain);
    context.For(in.Count() / n, grain, [=](int64_t begin, int64_t end, int thread) {
      int64_t* heap = scratch + thread * n;
      for (int64_t line = begin; line < end; ++line) {
        const int64_t outer = line / stride;
        const int64_t inner = line % stride;
        const TopkOrder<T> order = {from + outer * n * stride + inner, stride, largest};
        FindTopk(order, n, k, heap);
        for (int64_t i = 0; i < k; ++i) {
          const int64_t at = (outer * k + i) * stride + inner;
          values[at] = order.line[heap[i] * stride];
          places[at] = heap[i];
        }
      }
    });
  }
};

template <typename List>
inline Code PrepareTopk(PrepareContext& context) {
  TopkState& state = *static_cast<TopkState*>(context.state());
  const Tensor& x = context.input(0);
  state.run = FindFor<void (*)(const RunContext&, int64_t), TopkOf>(x.dtype, List());
  if (state.run == nullptr) return context.Fail(Code::kUnsupported, "this kernel has other input types");
  if (context.output(0).dtype != x.dtype || context.output(1).dtype != DType::kS64) {
    return context.Fail(Code::kBadModel, "its outputs have wrong element types");
  }
  LATHE_TRY(ReadBool(context, "largest", &state.largest));
  return ReadInt(context, "axis", 0, x.shape.rank - 1, &state.axis);
}

// The outputs are as the input but for the axis, and each thread can keep a heap of places.
inline Code PlanTopk(PlanContext& context, int64_t k) {
  const int axis = static_cast<int>(static_cast<const TopkState*>(context.state())->axis);
  Shape expected = context.input(0).shape;
  const int64_t n = expected[axis];
  expected.dims[axis] = k;
  LATHE_TRY(CheckShape(context, 0, expected));
  LATHE_TRY(CheckShape(context, 1, expected));
  if (n > kMaxPackedElements / context.threads()) return context.Fail(Code::kUnsupported, "it selects from too many");
  return RequestScratch(context, n * context.threads() * static_cast<int64_t>(sizeof(int64_t)));
}

// topk: the attribute says how many.
struct Topk {
  template <typename List>
  static Code Prepare(PrepareContext& context) {
    LATHE_TRY(CheckArity(context, 1, 1, 2));
    return PrepareTopk<List>(context);
  }

  static Code Plan(PlanContext& context) {
    const int axis = static_cast<int>(static_cast<const TopkState*>(context.state())->axis);
    Span<const int64_t> k;
    LATHE_TRY(context.Dims("k", &k));
    if (k.size() != 1 || k[0] < 0 || k[0] > context.input(0).shape[axis]) {
      return context.Fail(Code::kBadModel, "there are not as many elements as it selects");
    }
    return PlanTopk(context, k[0]);
  }

  static void Run(const RunContext& context) {
    const TopkState& state = context.State<TopkState>();
    state.run(context, context.outputs[0].shape[static_cast<int>(state.axis)]);
  }
};

// topk_by_input: the second input says how many, up to all.
struct TopkByInput {
  template <typename List>
  static Code Prepare(PrepareContext& context) {
    LATHE_TRY(CheckArity(context, 2, 2, 2));
    if (context.input(1).dtype != DType::kS64) return context.Fail(Code::kBadModel, "its k is not s64");
    return PrepareTopk<List>(context);
  }

  static Code Plan(PlanContext& context) {
    const int axis = static_cast<int>(static_cast<const TopkState*>(context.state())->axis);
    if (context.input(1).shape.Count() != 1) return context.Fail(Code::kBadModel, "its k is not one number");
    if (context.output(0).shape.rank != context.input(0).shape.rank) {
      return context.Fail(Code::kBadModel, "its output has another rank than its input");
    }
    const int64_t room = context.output(0).shape[axis];
    if (room < context.input(0).shape[axis]) return context.Fail(Code::kBadModel, "its outputs have too little room");
    return PlanTopk(context, room);
  }

  static void Run(const RunContext& context) {
    const TopkState& state = context.State<TopkState>();
    const int axis = static_cast<int>(state.axis);
    const int64_t wanted = context.inputs[1].As<int64_t>()[0];
    const int64_t all = context.inputs[0].shape[axis];
    const int64_t k = wanted < 0 ? 0 : (wanted < all ? wanted : all);
    context.outputs[0].shape.dims[axis] = context.outputs[1].shape.dims[axis] = k;
    state.run(context, k);
  }
};

template <typename Kind, typename List>
constexpr KernelFunctions TopkKernel() {
  return {
      .state_size = sizeof(TopkState),
      .prepare = Kind::template Prepare<List>,
      .plan = Kind::Plan,
      .run = Kind::Run,
  };
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_LOOPS_TOPK_H_
