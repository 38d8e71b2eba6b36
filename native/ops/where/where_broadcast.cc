// x where the condition is true, else y.
#include "native/kernel/loops/broadcast.h"
#include "native/kernel/math/convert.h"

namespace lathe {
namespace {

using Walk = BroadcastOf<3>;

Code Prepare(PrepareContext& context) {
  LATHE_TRY(CheckArity(context, 3, 3, 1));
  if (context.input(0).dtype != DType::kBool) return context.Fail(Code::kBadModel, "its condition is not bool");
  const DType dtype = context.input(1).dtype;
  if (SizeOf(dtype) == 0 || context.input(2).dtype != dtype || context.output(0).dtype != dtype) {
    return context.Fail(Code::kBadModel, "its tensors differ in element type");
  }
  return Code::kOk;
}

Code PlanRun(PlanContext& context) {
  const Shape* const shapes[] = {&context.input(0).shape, &context.input(1).shape, &context.input(2).shape};
  return PlanBroadcastOf<3>(context, shapes, static_cast<Walk*>(context.plan()));
}

template <typename T>
void RunOf(const RunContext& context) {
  const Walk& plan = context.Plan<Walk>();
  const Bool* condition = context.inputs[0].As<Bool>();
  const T* x = context.inputs[1].As<T>();
  const T* y = context.inputs[2].As<T>();
  T* to = context.outputs[0].As<T>();
  const int last = plan.rank - 1;
  const int64_t strides[] = {plan.strides[0][last], plan.strides[1][last], plan.strides[2][last]};
  context.For(context.outputs[0].shape.Count(), kElementGrain, [&](int64_t begin, int64_t end, int) {
    plan.ForStretches(begin, end, [&](int64_t at, const int64_t* offsets, int64_t count) {
      const Bool* chosen = condition + offsets[0];
      const T* left = x + offsets[1];
      const T* right = y + offsets[2];
      for (int64_t i = 0; i < count; ++i) {
        to[at + i] = chosen[i * strides[0]].value != 0 ? left[i * strides[1]] : right[i * strides[2]];
      }
    });
  });
}

void Run(const RunContext& context) {
  switch (SizeOf(context.outputs[0].dtype)) {
    case 1:
      return RunOf<uint8_t>(context);
    case 2:
      return RunOf<uint16_t>(context);
    case 4:
      return RunOf<uint32_t>(context);
    default:
      return RunOf<uint64_t>(context);
  }
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .plan_size = sizeof(lathe::Walk),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
