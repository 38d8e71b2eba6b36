// For every index, a row of `depth` elements that is off everywhere but at that place.
#include "native/kernel/loops/copy.h"
#include "native/kernel/loops/element_sizes.h"
#include "native/kernel/loops/indices.h"

namespace lathe {
namespace {

struct State {
  int64_t axis;
  int64_t depth;
};

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 2, 2, 1));
  LATHE_TRY(CheckIndices(context, 0));
  const Tensor& values = context.input(1);
  if (SizeOf(values.dtype) == 0 || context.output(0).dtype != values.dtype) {
    return context.Fail(Code::kBadModel, "values and output differ in type");
  }
  LATHE_TRY(ReadInt(context, "depth", 1, kMaxExtent, &state.depth));
  return ReadInt(context, "axis", 0, context.input(0).shape.rank, &state.axis);
}

Code PlanRun(PlanContext& context) {
  const State& state = *static_cast<const State*>(context.state());
  const Shape& in = context.input(0).shape;
  const Shape& values = context.input(1).shape;
  if (values.rank != 1 || values[0] != 2) return context.Fail(Code::kBadModel, "its values are not two");
  if (in.rank == kMaxRank) return context.Fail(Code::kBadModel, "its rank is too large");
  Shape expected = {};
  for (int i = 0; i < in.rank; ++i) {
    if (i == state.axis) expected.dims[expected.rank++] = state.depth;
    expected.dims[expected.rank++] = in[i];
  }
  if (state.axis == in.rank) expected.dims[expected.rank++] = state.depth;
  return CheckShape(context, 0, expected);
}

template <typename T>
void RunOf(const RunContext& context) {
  const State& state = context.State<State>();
  const Tensor& indices = context.inputs[0];
  const int64_t depth = state.depth;
  const int64_t inner = indices.shape.Count(static_cast<int>(state.axis), indices.shape.rank);
  const T off = context.inputs[1].As<T>()[0];
  const T on = context.inputs[1].As<T>()[1];
  T* to = context.outputs[0].As<T>();
  const int64_t count = indices.shape.Count();
  if (count == 0) return;
  const int64_t grain = kCopyGrain / (depth < kCopyGrain ? depth : kCopyGrain);
  context.For(count, grain, [=, &indices](int64_t begin, int64_t end, int) {
    for (int64_t at = begin; at < end; ++at) {
      T* row = to + at / inner * depth * inner + at % inner;
      for (int64_t i = 0; i < depth; ++i) row[i * inner] = off;
      const int64_t place = FromStart(IndexAt(indices, at), depth);
      if (place >= 0) row[place * inner] = on;
    }
  });
}

void Run(const RunContext& context) {
  WithSizeOf(context.inputs[1].dtype,
             [&](auto* element) { RunOf<typename Pointee<decltype(element)>::Type>(context); });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
