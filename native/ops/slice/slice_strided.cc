// y[i] = x[start + i * step] along every axis; the sizes are the output's.
#include "native/kernel/check.h"
#include "native/kernel/loops/strided_copy.h"

namespace lathe {
namespace {

struct State {
  int64_t steps[kMaxRank];
};

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 1, 1, 1));
  LATHE_TRY(CheckStridedCopy(context));
  const int rank = context.input(0).shape.rank;
  LATHE_TRY(CheckRank(context, context.output(0), rank, "its output"));
  LATHE_TRY(ReadInts(context, "steps", rank, INT64_MIN + 1, INT64_MAX, state.steps));
  for (int axis = 0; axis < rank; ++axis) {
    if (state.steps[axis] == 0) return context.Fail(Code::kBadModel, "a step is 0");
  }
  return Code::kOk;
}

Code PlanRun(PlanContext& context) {
  const State& state = *static_cast<const State*>(context.state());
  StridedCopy& copy = *static_cast<StridedCopy*>(context.plan());
  const Shape& in = context.input(0).shape;
  const Shape& out = context.output(0).shape;
  Span<const int64_t> starts;  // they may depend on the shapes
  LATHE_TRY(context.Dims("starts", &starts));
  if (starts.size() != static_cast<size_t>(in.rank)) return context.Fail(Code::kBadModel, "'starts' has another rank");
  copy = {};
  copy.rank = in.rank;
  const bool empty = out.Count() == 0;  // reads nothing: starts may lie behind the end
  for (int axis = 0; axis < in.rank && !empty; ++axis) {
    const int64_t start = starts[axis];
    const int64_t step = state.steps[axis];
    const int64_t reach = step > 0 ? in[axis] - 1 - start : start;  // how far the steps may lead
    const int64_t pace = step > 0 ? step : -step;
    if (start < 0 || start >= in[axis] || out[axis] - 1 > reach / pace) {
      return context.Fail(Code::kBadModel, "it reads outside its input");
    }
    const int64_t stride = in.Count(axis + 1, in.rank);
    copy.offset += start * stride;
    copy.dims[axis] = out[axis];
    copy.strides[axis] = out[axis] == 1 ? stride : step * stride;  // a single step leads nowhere and may be huge
  }
  int cuts = 0;  // axes of which elements are left out
  bool part = !empty;
  for (int axis = 0; axis < in.rank; ++axis) {
    cuts += in[axis] != out[axis] ? 1 : 0;
    part = part && state.steps[axis] == 1;
  }
  if (part && cuts <= 1) context.OutputInInput(0, copy.offset);
  if (empty) copy.rank = 0;
  Simplify(&copy);
  return Code::kOk;
}

void Run(const RunContext& context) {
  const StridedCopy& copy = context.Plan<StridedCopy>();
  const int64_t element = static_cast<int64_t>(SizeOf(context.inputs[0].dtype));
  if (context.outputs[0].As<char>() == context.inputs[0].As<char>() + copy.offset * element) return;  // it is there
  RunStridedCopy(context, copy);
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .plan_size = sizeof(lathe::StridedCopy),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
