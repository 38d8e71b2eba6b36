// Run-time sizes as the elements of a tensor: evaluated when the kernel plans, stored when it runs.
#include "native/kernel/check.h"
#include "native/kernel/loops/element_sizes.h"

namespace lathe {
namespace {

constexpr size_t kMost = 32;

struct Values {
  int64_t values[kMost];
};

Code Prepare(PrepareContext& context) {
  LATHE_TRY(CheckArity(context, 0, 0, 1));
  const DType dtype = context.output(0).dtype;
  if (dtype != DType::kS64 && dtype != DType::kS32 && dtype != DType::kF32)
    return context.Fail(Code::kBadModel, "its output is neither s64 nor s32 nor f32");
  return CheckRank(context, context.output(0), 1, "its output");
}

Code PlanRun(PlanContext& context) {
  Values& plan = *static_cast<Values*>(context.plan());
  Span<const int64_t> dims;
  LATHE_TRY(context.Dims("dims", &dims));
  if (dims.size() > kMost) return context.Fail(Code::kBadModel, "it has more than %zu dimensions", kMost);
  if (context.output(0).shape[0] != static_cast<int64_t>(dims.size()))
    return context.Fail(Code::kBadModel, "its output does not have one element per dimension");
  for (size_t i = 0; i < dims.size(); ++i) plan.values[i] = dims[i];
  return Code::kOk;
}

template <typename T>
void Store(const RunContext& context) {
  Tensor& y = context.outputs[0];
  const Values& plan = context.Plan<Values>();
  T* to = y.As<T>();
  for (int64_t i = 0; i < y.shape[0]; ++i) to[i] = static_cast<T>(plan.values[i]);
}

void Run(const RunContext& context) {
  switch (context.outputs[0].dtype) {
    case DType::kS64:
      return Store<int64_t>(context);
    case DType::kS32:
      return Store<int32_t>(context);
    default:
      return Store<float>(context);
  }
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .plan_size = sizeof(lathe::Values),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
