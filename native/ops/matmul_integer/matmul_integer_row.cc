// The matrix product of s8 or u8 numbers as s32 sums.
#include "native/kernel/gemm/integer_matmul.h"

namespace lathe {
namespace {

constexpr MatmulInputs kInputs = {0, 2, 1, 3};

Code Prepare(PrepareContext& context) {
  LATHE_TRY(CheckArity(context, 4, 4, 1));
  if (context.output(0).dtype != DType::kS32) return context.Fail(Code::kBadModel, "its output is not s32");
  return PrepareIntegerMatmul(context, kInputs);
}

Code PlanRun(PlanContext& context) { return PlanIntegerMatmul(context, kInputs); }

void Run(const RunContext& context) {
  int32_t* output = context.outputs[0].As<int32_t>();
  RunIntegerMatmul(context, kInputs, [&](int64_t at, int64_t, int64_t, const Sum* sums, int64_t count) {
    for (int64_t j = 0; j < count; ++j) output[at + j] = static_cast<int32_t>(sums[j]);
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .plan_size = sizeof(lathe::Products),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
