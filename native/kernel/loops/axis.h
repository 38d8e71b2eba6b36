// Kernels that work along one axis: attribute `axis`, and `keepdims` for those that leave one element of it.
//
// An operation is a struct with `Code Read(PrepareContext&)` and a template
// `void operator()(const Source<T>& from, const Target<To>& to, int64_t size) const`, called for every line of elements
// along the axis, of which there is at least one. It reads an element before it writes the one at the same place.
#ifndef LATHE_KERNEL_LOOPS_AXIS_H_
#define LATHE_KERNEL_LOOPS_AXIS_H_

#include "native/kernel/loops/typed.h"

namespace lathe {
namespace {

// Elements at equal distances, as they are computed with.
template <typename T>
struct Source {
  const T* data;
  int64_t stride;

  auto operator[](int64_t index) const { return Widen(data[index * stride]); }
};

template <typename T>
struct Target {
  T* data;
  int64_t stride;

  template <typename V>
  void Set(int64_t index, V value) const {
    data[index * stride] = Convert<T>(value);
  }
};

enum class AxisResult { kLine, kElement };

template <typename Operation, typename Output, AxisResult kResult>
struct AlongAxis {
  static constexpr bool kReduces = kResult == AxisResult::kElement;
  using Function = void (*)(const Operation& operation, const void* from, int64_t from_offset, void* to,
                            int64_t to_offset, int64_t stride, int64_t size);

  struct State {
    Operation operation;
    Function apply;
    int64_t axis;
    bool keepdims;
  };

  template <typename T>
  struct Of {
    static void Apply(const Operation& operation, const void* from, int64_t from_offset, void* to, int64_t to_offset,
                      int64_t stride, int64_t size) {
      using To = typename OutputType<T, Output>::Type;
      const Source<T> source = {static_cast<const T*>(from) + from_offset, stride};
      const Target<To> target = {static_cast<To*>(to) + to_offset, stride};
      operation(source, target, size);
    }
  };

  template <typename List>
  static Code Prepare(PrepareContext& context) {
    State& state = *static_cast<State*>(context.state());
    state.apply = FindFor<Function, Of>(context.input(0).dtype, List());
    LATHE_TRY(CheckTyped<Output>(context, 1, state.apply != nullptr));
    LATHE_TRY(ReadInt(context, "axis", 0, context.input(0).shape.rank - 1, &state.axis));
    if (kReduces) LATHE_TRY(ReadBool(context, "keepdims", &state.keepdims));
    return state.operation.Read(context);
  }

  static Code Plan(PlanContext& context) {
    const State& state = *static_cast<const State*>(context.state());
    const Shape& in = context.input(0).shape;
    if (!kReduces) return CheckShape(context, 0, in);
    Shape expected = {};
    for (int axis = 0; axis < in.rank; ++axis) {
      if (axis != state.axis) {
        expected.dims[expected.rank++] = in[axis];
      } else if (state.keepdims) {
        expected.dims[expected.rank++] = 1;
      }
    }
    LATHE_TRY(CheckShape(context, 0, expected));
    if (in[static_cast<int>(state.axis)] > 0 || expected.Count() == 0) return Code::kOk;
    return context.Fail(Code::kBadModel, "its axis has no elements");
  }

  static void Run(const RunContext& context) {
    const State& state = context.template State<State>();
    const Shape& shape = context.inputs[0].shape;
    const int axis = static_cast<int>(state.axis);
    const int64_t size = shape[axis];
    const int64_t inner = shape.Count(axis + 1, shape.rank);
    const void* from = context.inputs[0].data;
    void* to = context.outputs[0].data;
    if (size == 0) return;
    const int64_t grain = kElementGrain / (size < kElementGrain ? size : kElementGrain);
    context.For(shape.Count(0, axis) * inner, grain, [&](int64_t begin, int64_t end, int) {
      for (int64_t line = begin; line < end; ++line) {
        const int64_t offset = inner == 1 ? line * size : line / inner * size * inner + line % inner;
        state.apply(state.operation, from, offset, to, kReduces ? line : offset, inner, size);
      }
    });
  }
};

template <typename Operation, typename List, typename Output = SameAsInput, AxisResult kResult = AxisResult::kLine>
constexpr KernelFunctions AxisKernel() {
  using Kernel = AlongAxis<Operation, Output, kResult>;
  return {
      .state_size = sizeof(typename Kernel::State),
      .prepare = Kernel::template Prepare<List>,
      .plan = Kernel::Plan,
      .run = Kernel::Run,
  };
}

// The place of the largest element, or of the smallest one; the first that is not a number
// comes before all others. With `last` the last one of those that are equal.
enum class Extreme { kLargest, kSmallest };

template <Extreme kExtreme, typename T>
inline int64_t PlaceOf(const Source<T>& from, int64_t size, bool last) {
  auto best = from[0];
  int64_t place = 0;
  for (int64_t i = 1; i < size; ++i) {
    const auto value = from[i];
    bool better = kExtreme == Extreme::kLargest ? value > best : value < best;
    if (last) better = better || value == best;
    if constexpr (kIsFloat<decltype(Widen(T()))>) better = better || (value != value && (last || best == best));
    if (!better) continue;
    best = value;
    place = i;
  }
  return place;
}

template <Extreme kExtreme>
struct PlaceOperation {
  bool last;

  Code Read(const PrepareContext& context) { return ReadBool(context, "select_last_index", &last); }
  template <typename T, typename To>
  void operator()(const Source<T>& from, const Target<To>& to, int64_t size) const {
    to.Set(0, PlaceOf<kExtreme>(from, size, last));
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_LOOPS_AXIS_H_
