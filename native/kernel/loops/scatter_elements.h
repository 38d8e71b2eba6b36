// scatter_elements: the places along one axis.
#ifndef LATHE_KERNEL_LOOPS_SCATTER_ELEMENTS_H_
#define LATHE_KERNEL_LOOPS_SCATTER_ELEMENTS_H_

#include "native/kernel/loops/scatter.h"

namespace lathe {
namespace {

// Lines along the axis do not touch each other, so that they are handed
// to threads; within a line updates are applied in order.
struct ScatterElementsState {
  int64_t axis;
  int32_t reduction;
  void (*run)(const RunContext& context);  // of the element type, where elements are reduced
};

inline Code PrepareScatterElements(PrepareContext& context, bool reduces) {
  ScatterElementsState& state = *static_cast<ScatterElementsState*>(context.state());
  LATHE_TRY(CheckScatterTypes(context));
  const int rank = context.input(0).shape.rank;
  LATHE_TRY(CheckRank(context, context.input(1), rank, "the tensor of indices"));
  LATHE_TRY(CheckRank(context, context.input(2), rank, "the tensor of updates"));
  LATHE_TRY(ReadInt(context, "axis", 0, rank - 1, &state.axis));
  int reduction = 0;
  LATHE_TRY(ReadReduction(context, &reduction));
  state.reduction = reduction;
  if ((reduction != kScatterNone) == reduces) return Code::kOk;
  return context.Fail(Code::kUnsupported, "this kernel has other reductions");
}

inline Code PlanScatterElements(PlanContext& context) {
  const int axis = static_cast<int>(static_cast<const ScatterElementsState*>(context.state())->axis);
  const Shape& in = context.input(0).shape;
  const Shape& picked = context.input(1).shape;
  if (picked != context.input(2).shape) {
    return context.Fail(Code::kBadModel, "indices and updates differ in shape");
  }
  for (int i = 0; i < in.rank; ++i) {
    if (i != axis && picked[i] > in[i]) return context.Fail(Code::kBadModel, "its indices reach outside its input");
  }
  LATHE_TRY(CheckConstantIndices(context, context.input(1), in[axis]));
  return CheckShape(context, 0, in);
}

template <typename T>
inline void RunScatterElements(const RunContext& context) {
  RunWholeCopy(context);  // the output begins as a copy of the input
  const ScatterElementsState& state = context.State<ScatterElementsState>();
  const int axis = static_cast<int>(state.axis);
  const Tensor& indices = context.inputs[1];
  const Shape& in = context.inputs[0].shape;
  const Shape& picked = indices.shape;
  const T* updates = context.inputs[2].As<T>();
  T* to = context.outputs[0].As<T>();
  const int64_t count = picked[axis];
  const int64_t step = picked.Count(axis + 1, picked.rank);  // between neighbours of a line, in the updates
  const int64_t stride = in.Count(axis + 1, in.rank);        // and in the output
  if (picked.Count() == 0) return;
  const int64_t grain = kCopyGrain / (count < kCopyGrain ? count : kCopyGrain);
  context.For(picked.Count() / count, grain, [=, &indices, &in, &picked](int64_t begin, int64_t end, int) {
    for (int64_t line = begin; line < end; ++line) {
      const int64_t first = line / step * count * step + line % step;
      int64_t offset = 0;
      int64_t rest = line;
      int64_t pace = 1;
      for (int i = picked.rank - 1; i >= 0; --i) {
        if (i != axis) {
          offset += rest % picked[i] * pace;
          rest /= picked[i];
        }
        pace *= in[i];
      }
      for (int64_t i = 0; i < count; ++i) {
        const int64_t at = first + i * step;
        const int64_t place = FromStart(IndexAt(indices, at), in[axis]);
        if (place >= 0) ReduceInto<T>(state.reduction, to + offset + place * stride, updates + at, 1);
      }
    }
  });
}

template <typename T>
struct ScatterElementsOf {
  static void Apply(const RunContext& context) { RunScatterElements<T>(context); }
};

// The kernel that reduces numbers of these types.
template <typename List>
constexpr KernelFunctions ScatterElementsReduction() {
  return {
      .state_size = sizeof(ScatterElementsState),
      .prepare =
          [](PrepareContext& context) {
            LATHE_TRY(PrepareScatterElements(context, true));
            ScatterElementsState& state = *static_cast<ScatterElementsState*>(context.state());
            state.run = FindFor<void (*)(const RunContext&), ScatterElementsOf>(context.input(0).dtype, List());
            if (state.run != nullptr) return Code::kOk;
            return context.Fail(Code::kUnsupported, "this kernel has other element types");
          },
      .plan = PlanScatterElements,
      .run = [](const RunContext& context) { context.State<ScatterElementsState>().run(context); },
  };
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_LOOPS_SCATTER_ELEMENTS_H_
