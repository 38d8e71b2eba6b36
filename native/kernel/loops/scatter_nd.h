// scatter_nd: slices at places that rows of indices name.
#ifndef LATHE_KERNEL_LOOPS_SCATTER_ND_H_
#define LATHE_KERNEL_LOOPS_SCATTER_ND_H_

#include "native/kernel/loops/scatter.h"

namespace lathe {
namespace {

struct ScatterNdState {
  int32_t reduction;
  void (*run)(const RunContext& context);  // of the element type, where elements are reduced
};

inline Code PrepareScatterNd(PrepareContext& context, bool reduces) {
  LATHE_TRY(CheckScatterTypes(context));
  if (context.input(1).shape.rank < 1) return context.Fail(Code::kBadModel, "its indices are no rows");
  int reduction = 0;
  LATHE_TRY(ReadReduction(context, &reduction));
  static_cast<ScatterNdState*>(context.state())->reduction = reduction;
  if ((reduction != kScatterNone) == reduces) return Code::kOk;
  return context.Fail(Code::kUnsupported, "this kernel has other reductions");
}

inline Code PlanScatterNd(PlanContext& context) {
  const Shape& in = context.input(0).shape;
  const Tensor& indices = context.input(1);
  const int last = indices.shape.rank - 1;
  const int64_t depth = indices.shape[last];
  if (depth < 1 || depth > in.rank) return context.Fail(Code::kBadModel, "its rows of indices have a wrong length");
  if (last + in.rank - depth > kMaxRank) return context.Fail(Code::kBadModel, "its rank is too large");
  Shape expected = {};
  for (int i = 0; i < last; ++i) expected.dims[expected.rank++] = indices.shape[i];
  for (int i = static_cast<int>(depth); i < in.rank; ++i) expected.dims[expected.rank++] = in[i];
  if (context.input(2).shape != expected) return context.Fail(Code::kBadModel, "its updates have a wrong shape");
  for (int axis = 0; axis < depth; ++axis) LATHE_TRY(CheckConstantIndices(context, indices, in[axis], axis, depth));
  return CheckShape(context, 0, in);
}

// Every thread walks all rows, in order, and writes its own part of each slice.
template <typename T>
inline void RunScatterNd(const RunContext& context) {
  RunWholeCopy(context);  // the output begins as a copy of the input
  const int reduction = context.State<ScatterNdState>().reduction;
  const Tensor& indices = context.inputs[1];
  const Shape& in = context.inputs[0].shape;
  const T* updates = context.inputs[2].As<T>();
  T* to = context.outputs[0].As<T>();
  const int depth = static_cast<int>(indices.shape[-1]);
  const int64_t rows = indices.shape.Count() / depth;
  const int64_t piece = in.Count(depth, in.rank);
  context.For(piece, kCopyGrain, [=, &indices, &in](int64_t begin, int64_t end, int) {
    for (int64_t row = 0; row < rows; ++row) {
      int64_t offset = 0;
      bool inside = true;
      for (int axis = 0; axis < depth; ++axis) {
        const int64_t place = FromStart(IndexAt(indices, row * depth + axis), in[axis]);
        inside = inside && place >= 0;
        offset = offset * in[axis] + place;
      }
      if (inside) ReduceInto<T>(reduction, to + offset * piece + begin, updates + row * piece + begin, end - begin);
    }
  });
}

template <typename T>
struct ScatterNdOf {
  static void Apply(const RunContext& context) { RunScatterNd<T>(context); }
};

// The kernel that reduces numbers of these types.
template <typename List>
constexpr KernelFunctions ScatterNdReduction() {
  return {
      .state_size = sizeof(ScatterNdState),
      .prepare =
          [](PrepareContext& context) {
            LATHE_TRY(PrepareScatterNd(context, true));
            ScatterNdState& state = *static_cast<ScatterNdState*>(context.state());
            state.run = FindFor<void (*)(const RunContext&), ScatterNdOf>(context.input(0).dtype, List());
            if (state.run != nullptr) return Code::kOk;
            return context.Fail(Code::kUnsupported, "this kernel has other element types");
          },
      .plan = PlanScatterNd,
      .run = [](const RunContext& context) { context.State<ScatterNdState>().run(context); },
  };
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_LOOPS_SCATTER_ND_H_
