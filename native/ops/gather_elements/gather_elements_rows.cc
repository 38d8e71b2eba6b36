// y[..., i, ...] = x[..., indices[..., i, ...], ...] along an axis. Run-time indices outside are limited to the axis.
#include "native/kernel/loops/copy.h"
#include "native/kernel/loops/element_sizes.h"
#include "native/kernel/loops/indices.h"

namespace lathe {
namespace {

struct State {
  int64_t axis;
};

Code Prepare(PrepareContext& context) {
  LATHE_TRY(CheckArity(context, 2, 2, 1));
  const Tensor& x = context.input(0);
  if (SizeOf(x.dtype) == 0 || context.output(0).dtype != x.dtype) {
    return context.Fail(Code::kBadModel, "input and output differ in type");
  }
  LATHE_TRY(CheckIndices(context, 1));
  LATHE_TRY(CheckRank(context, context.input(1), x.shape.rank, "the tensor of indices"));
  return ReadInt(context, "axis", 0, x.shape.rank - 1, &static_cast<State*>(context.state())->axis);
}

Code PlanRun(PlanContext& context) {
  const int axis = static_cast<int>(static_cast<const State*>(context.state())->axis);
  const Shape& in = context.input(0).shape;
  const Shape& picked = context.input(1).shape;
  LATHE_TRY(CheckShape(context, 0, picked));
  for (int i = 0; i < in.rank; ++i) {
    if (i != axis && picked[i] > in[i]) return context.Fail(Code::kBadModel, "its indices reach outside its input");
  }
  if (in[axis] == 0 && picked.Count() > 0) return context.Fail(Code::kBadModel, "it gathers from nothing");
  return CheckConstantIndices(context, context.input(1), in[axis]);
}

template <typename T>
void RunOf(const RunContext& context) {
  const int axis = static_cast<int>(context.State<State>().axis);
  const Tensor& indices = context.inputs[1];
  const Shape& in = context.inputs[0].shape;
  const Shape& picked = indices.shape;
  const T* from = context.inputs[0].As<T>();
  T* to = context.outputs[0].As<T>();
  if (picked.Count() == 0) return;
  const int last = picked.rank - 1;
  const int64_t count = picked[last];
  const int64_t stride = in.Count(axis + 1, in.rank);
  const bool along = axis == last;
  const int64_t grain = kCopyGrain / (count < kCopyGrain ? count : kCopyGrain);
  context.For(picked.Count() / count, grain, [=, &indices, &in, &picked](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t offset = 0;
      int64_t rest = row;
      for (int i = last - 1; i >= 0; --i) {
        if (i != axis) offset += rest % picked[i] * in.Count(i + 1, in.rank);
        rest /= picked[i];
      }
      for (int64_t i = 0; i < count; ++i) {
        const int64_t place = Limited(IndexAt(indices, row * count + i), in[axis]) * stride;
        to[row * count + i] = from[offset + place + (along ? 0 : i)];
      }
    }
  });
}

void Run(const RunContext& context) {
  WithSizeOf(context.inputs[0].dtype,
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
