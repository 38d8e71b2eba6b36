// A tensor repeated along its dimensions of 1 and new ones in front: read with a stride of 0 there.
#include "native/kernel/check.h"
#include "native/kernel/loops/strided_copy.h"

namespace lathe {
namespace {

Code Prepare(PrepareContext& context) {
  LATHE_TRY(CheckArity(context, 1, 1, 1));
  return CheckStridedCopy(context);
}

Code PlanRun(PlanContext& context) {
  StridedCopy& copy = *static_cast<StridedCopy*>(context.plan());
  const Shape& in = context.input(0).shape;
  const Shape& out = context.output(0).shape;
  const int missing = out.rank - in.rank;
  if (missing < 0) return context.Fail(Code::kBadModel, "its output has fewer axes than its input");
  copy = {};
  copy.rank = out.rank;
  for (int axis = 0; axis < out.rank; ++axis) {
    const int64_t size = axis < missing ? 1 : in[axis - missing];
    if (size != 1 && size != out[axis])
      return context.Fail(Code::kBadModel, "its input does not broadcast to its output");
    copy.dims[axis] = out[axis];
    copy.strides[axis] = size == 1 ? 0 : in.Count(axis - missing + 1, in.rank);
  }
  if (out.Count() == 0) copy.rank = 0;
  Simplify(&copy);
  return Code::kOk;
}

void Run(const RunContext& context) { RunStridedCopy(context, context.Plan<StridedCopy>()); }

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .plan_size = sizeof(lathe::StridedCopy),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
