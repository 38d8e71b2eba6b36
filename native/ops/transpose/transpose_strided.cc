// Axis i of the output is axis perm[i] of the input.
#include "native/kernel/check.h"
#include "native/kernel/loops/strided_copy.h"

namespace lathe {
namespace {

struct State {
  int64_t perm[kMaxRank];
};

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 1, 1, 1));
  LATHE_TRY(CheckStridedCopy(context));
  const int rank = context.input(0).shape.rank;
  LATHE_TRY(CheckRank(context, context.output(0), rank, "its output"));
  LATHE_TRY(ReadInts(context, "perm", rank, 0, rank - 1, state.perm));
  uint32_t seen = 0;
  for (int axis = 0; axis < rank; ++axis) seen |= 1u << state.perm[axis];
  if (seen + 1 != 1u << rank) return context.Fail(Code::kBadModel, "'perm' is not a permutation");
  return Code::kOk;
}

Code PlanRun(PlanContext& context) {
  const State& state = *static_cast<const State*>(context.state());
  StridedCopy& copy = *static_cast<StridedCopy*>(context.plan());
  const Shape& in = context.input(0).shape;
  copy = {};
  copy.rank = in.rank;
  Shape expected = in;
  for (int axis = 0; axis < in.rank; ++axis) {
    const int from = static_cast<int>(state.perm[axis]);
    expected.dims[axis] = copy.dims[axis] = in[from];
    copy.strides[axis] = in.Count(from + 1, in.rank);
  }
  Simplify(&copy);
  return CheckShape(context, 0, expected);
}

void Run(const RunContext& context) { RunStridedCopy(context, context.Plan<StridedCopy>()); }

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .plan_size = sizeof(lathe::StridedCopy),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
