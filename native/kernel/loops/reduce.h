// Reductions over any set of axes.
//
// A fold is a struct of static functions: `Acc Initial()`, `Acc Add(Acc, Acc)`, which must not care about order beyond
// rounding, and `Result(Acc, int64_t count)`, a number that is converted to T; `kEmptyAllowed` says whether the fold of
// nothing has a value. A fold for several element types is a template of the type that elements are computed in (see
// typed.h) and names its `Acc`.
#ifndef LATHE_KERNEL_LOOPS_REDUCE_H_
#define LATHE_KERNEL_LOOPS_REDUCE_H_

#include <math.h>

#include "native/kernel/loops/typed.h"

namespace lathe {
namespace {

constexpr int64_t kReduceTile = 64;  // neighbouring outputs that are folded side by side
constexpr int kReduceLanes = 8;      // accumulators along a contiguous reduced axis; fixes the order of additions

struct Axes {
  int64_t size;
  int64_t stride;
};

// The input as two nests of loops: the kept axes, in order of the output, and the reduced ones. Axes of size 1 are
// gone, neighbours of one kind are merged. Either the last kept axis has stride 1 ("side by side"), or the last
// reduced one has.
struct ReducePlan {
  int32_t kept_rank;
  int32_t reduced_rank;
  Axes kept[kMaxRank + 1];
  Axes reduced[kMaxRank + 1];
  int64_t count;  // elements folded into one
  bool side_by_side;
};

struct ReduceState {
  bool reduced[kMaxRank];
  bool keepdims;
};

inline void AddAxis(Axes* axes, int32_t* rank, bool merge, int64_t size, int64_t stride) {
  if (merge) {
    axes[*rank - 1].size *= size;
    axes[*rank - 1].stride = stride;
  } else {
    axes[(*rank)++] = {size, stride};
  }
}

inline Code PrepareReduce(PrepareContext& context) {
  ReduceState& state = *static_cast<ReduceState*>(context.state());
  LATHE_TRY(CheckArity(context, 1, 1, 1));
  LATHE_TRY(ReadBool(context, "keepdims", &state.keepdims));
  Span<const int64_t> axes;
  LATHE_TRY(context.Ints("axes", &axes));
  for (const int64_t axis : axes) {
    if (axis < 0 || axis >= context.input(0).shape.rank)
      return context.Fail(Code::kBadModel, "an axis is out of range");
    state.reduced[axis] = true;
  }
  return Code::kOk;
}

inline Code PlanReduce(PlanContext& context, bool empty_allowed) {
  const ReduceState& state = *static_cast<const ReduceState*>(context.state());
  ReducePlan& plan = *static_cast<ReducePlan*>(context.plan());
  const Shape& in = context.input(0).shape;
  Shape expected = {};
  plan = {};
  plan.count = 1;
  int last_kind = -1;  // of the axis before: 0 kept, 1 reduced
  for (int axis = 0; axis < in.rank; ++axis) {
    const bool reduced = state.reduced[axis];
    if (!reduced || state.keepdims) expected.dims[expected.rank++] = reduced ? 1 : in[axis];
    if (reduced) plan.count *= in[axis];
    if (in[axis] == 1) continue;
    const bool merge = last_kind == static_cast<int>(reduced);
    if (reduced) {
      AddAxis(plan.reduced, &plan.reduced_rank, merge, in[axis], in.Count(axis + 1, in.rank));
    } else {
      AddAxis(plan.kept, &plan.kept_rank, merge, in[axis], in.Count(axis + 1, in.rank));
    }
    last_kind = static_cast<int>(reduced);
  }
  LATHE_TRY(CheckShape(context, 0, expected));
  if (plan.count == 0 && !empty_allowed && expected.Count() > 0) {
    return context.Fail(Code::kBadModel, "nothing has no mean");
  }
  plan.side_by_side = last_kind == 0;
  if (plan.kept_rank == 0) plan.kept[plan.kept_rank++] = {1, 0};
  if (plan.reduced_rank == 0) plan.reduced[plan.reduced_rank++] = {1, 0};
  return Code::kOk;
}

// Position `index` of a nest of loops over all but its last axis, as an offset in elements.
inline int64_t OuterOffset(const Axes* axes, int rank, int64_t index) {
  int64_t offset = 0;
  for (int axis = rank - 2; axis >= 0; --axis) {
    offset += index % axes[axis].size * axes[axis].stride;
    index /= axes[axis].size;
  }
  return offset;
}

template <typename T, typename Acc, typename Fold>
struct Reduce {
  static Code Prepare(PrepareContext& context) {
    LATHE_TRY(PrepareReduce(context));
    return CheckAllTypes(context, DTypeOf<T>::value);
  }

  static Code Plan(PlanContext& context) { return PlanReduce(context, Fold::kEmptyAllowed); }

  // `width` neighbouring outputs, whose inputs lie side by side.
  static void FoldColumns(const ReducePlan& plan, const T* from, int64_t outer, int64_t width, T* to) {
    Acc sums[kReduceTile];
    for (int64_t i = 0; i < width; ++i) sums[i] = Fold::Initial();
    const Axes last = plan.reduced[plan.reduced_rank - 1];
    for (int64_t index = 0; index < outer; ++index) {
      const T* row = from + OuterOffset(plan.reduced, plan.reduced_rank, index);
      for (int64_t j = 0; j < last.size; ++j, row += last.stride) {
        for (int64_t i = 0; i < width; ++i) sums[i] = Fold::Add(sums[i], static_cast<Acc>(Widen(row[i])));
      }
    }
    for (int64_t i = 0; i < width; ++i) to[i] = Convert<T>(Fold::Result(sums[i], plan.count));
  }

  // One output, whose inputs are contiguous along the last reduced axis.
  static T FoldRows(const ReducePlan& plan, const T* from, int64_t outer) {
    Acc lanes[kReduceLanes];
    for (Acc& lane : lanes) lane = Fold::Initial();
    const Axes last = plan.reduced[plan.reduced_rank - 1];
    for (int64_t index = 0; index < outer; ++index) {
      const T* row = from + OuterOffset(plan.reduced, plan.reduced_rank, index);
      int64_t j = 0;
      for (; j + kReduceLanes <= last.size; j += kReduceLanes) {
        for (int lane = 0; lane < kReduceLanes; ++lane) {
          lanes[lane] = Fold::Add(lanes[lane], static_cast<Acc>(Widen(row[j + lane])));
        }
      }
      for (; j < last.size; ++j) lanes[0] = Fold::Add(lanes[0], static_cast<Acc>(Widen(row[j])));
    }
    for (int lane = 1; lane < kReduceLanes; ++lane) lanes[0] = Fold::Add(lanes[0], lanes[lane]);
    return Convert<T>(Fold::Result(lanes[0], plan.count));
  }

  static void Run(const RunContext& context) {
    const ReducePlan& plan = context.template Plan<ReducePlan>();
    const T* from = context.inputs[0].As<T>();
    T* to = context.outputs[0].As<T>();
    const int64_t outputs = context.outputs[0].shape.Count();
    const Axes last = plan.kept[plan.kept_rank - 1];
    int64_t outer = plan.count == 0 ? 0 : 1;
    for (int axis = 0; axis + 1 < plan.reduced_rank; ++axis) outer *= plan.reduced[axis].size;
    const int64_t unit = plan.side_by_side ? 16 : 1;  // neighbours that vectors fold together
    const int64_t few = plan.count < kElementGrain ? kElementGrain / (plan.count + 1) + 1 : 1;
    const int64_t grain = (few + unit - 1) / unit * unit;
    context.For(outputs, grain, [&](int64_t begin, int64_t end, int) {
      for (int64_t at = begin; at < end;) {
        const int64_t column = at % last.size;
        const T* start = from + OuterOffset(plan.kept, plan.kept_rank, at / last.size) + column * last.stride;
        if (!plan.side_by_side) {
          to[at++] = FoldRows(plan, start, outer);
          continue;
        }
        int64_t width = last.size - column < end - at ? last.size - column : end - at;
        if (width > kReduceTile) width = kReduceTile;
        FoldColumns(plan, start, outer, width, to + at);
        at += width;
      }
    });
  }
};

template <typename T, typename Acc>
struct SumFold {
  static constexpr bool kEmptyAllowed = true;
  static Acc Initial() { return 0; }
  static Acc Add(Acc a, Acc b) { return a + b; }
  static T Result(Acc sum, int64_t) { return static_cast<T>(sum); }
};

template <typename T>
struct MaxFold {
  static constexpr bool kEmptyAllowed = true;
  static T Add(T a, T b) { return b > a || b != b ? b : a; }
  static T Result(T best, int64_t) { return best; }
};

template <typename T>
struct MinFold {
  static constexpr bool kEmptyAllowed = true;
  static T Add(T a, T b) { return b < a || b != b ? b : a; }
  static T Result(T best, int64_t) { return best; }
};

template <typename Fold, typename T, typename Acc>
constexpr KernelFunctions ReduceKernel() {
  using Kernel = Reduce<T, Acc, Fold>;
  return {
      .state_size = sizeof(ReduceState),
      .plan_size = sizeof(ReducePlan),
      .prepare = Kernel::Prepare,
      .plan = Kernel::Plan,
      .run = Kernel::Run,
  };
}

// Reductions of several element types from one file.
template <template <typename> class Fold>
struct TypedReduce {
  using Function = void (*)(const RunContext& context);

  struct State {
    ReduceState reduce;  // stands first: the functions above read it there
    Function run;
  };

  template <typename T>
  struct Of {
    using TypedFold = Fold<decltype(Widen(T()))>;
    static void Apply(const RunContext& context) { Reduce<T, typename TypedFold::Acc, TypedFold>::Run(context); }
  };

  template <typename List>
  static Code Prepare(PrepareContext& context) {
    State& state = *static_cast<State*>(context.state());
    state.run = FindFor<Function, Of>(context.input(0).dtype, List());
    LATHE_TRY(CheckTyped<SameAsInput>(context, 1, state.run != nullptr));
    return PrepareReduce(context);
  }

  static Code Plan(PlanContext& context) { return PlanReduce(context, Fold<double>::kEmptyAllowed); }

  static void Run(const RunContext& context) { context.template State<State>().run(context); }
};

template <template <typename> class Fold, typename List>
constexpr KernelFunctions TypedReduceKernel() {
  using Kernel = TypedReduce<Fold>;
  return {
      .state_size = sizeof(typename Kernel::State),
      .plan_size = sizeof(ReducePlan),
      .prepare = Kernel::template Prepare<List>,
      .plan = Kernel::Plan,
      .run = Kernel::Run,
  };
}

// What the sums of a type are held in: floats in double, integers in themselves.
template <typename C>
struct SumOf {
  using Type = C;
};
template <>
struct SumOf<float> {
  using Type = double;
};

// The smallest and the largest number of a type.
template <typename C>
constexpr C LowestOf() {
  if constexpr (kIsFloat<C>) {
    return static_cast<C>(-HUGE_VAL);
  } else {
    return Limits<C>::kLow;
  }
}
template <typename C>
constexpr C HighestOf() {
  if constexpr (kIsFloat<C>) {
    return static_cast<C>(HUGE_VAL);
  } else {
    return Limits<C>::kHigh;
  }
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_LOOPS_REDUCE_H_
