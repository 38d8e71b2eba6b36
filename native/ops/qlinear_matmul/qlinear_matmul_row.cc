// The matrix product of s8 or u8 numbers, with the s32 sums quantised again.
#include "native/kernel/gemm/integer_matmul.h"

namespace lathe {
namespace {

enum Inputs { kA, kAScale, kAZero, kB, kBScale, kBZero, kYScale, kYZero, kInputCount };

constexpr MatmulInputs kInputs = {kA, kAZero, kB, kBZero};

Code Prepare(PrepareContext& context) {
  LATHE_TRY(CheckArity(context, kInputCount, kInputCount, 1));
  const DType to = context.output(0).dtype;
  if (!IsByte(to)) return context.Fail(Code::kUnsupported, "this kernel has other output types");
  LATHE_TRY(CheckScalarOrRow(context, kAScale, DType::kF32));
  LATHE_TRY(CheckScalarOrRow(context, kBScale, DType::kF32));
  LATHE_TRY(CheckScalar(context, kYScale, DType::kF32));
  LATHE_TRY(CheckScalar(context, kYZero, to));
  return PrepareIntegerMatmul(context, kInputs);
}

Code PlanRun(PlanContext& context) {
  LATHE_TRY(PlanIntegerMatmul(context, kInputs));
  const Products& plan = *static_cast<const Products*>(context.plan());
  LATHE_TRY(CheckRowLength(context, kAScale, plan.rows));
  return CheckRowLength(context, kBScale, plan.columns);
}

template <typename Y>
void RunTo(const RunContext& context) {
  const Tensor* inputs = context.inputs;
  const float* row_scales = inputs[kAScale].As<float>();
  const int64_t row_step = inputs[kAScale].shape.rank;
  const int32_t zero = ZeroPointAt(inputs[kYZero], 0);
  Y* output = context.outputs[0].As<Y>();
  RunIntegerMatmul(context, kInputs, [&](int64_t at, int64_t row, int64_t column, const Sum* sums, int64_t count) {
    const Requantisation scale = {inputs[kBScale].As<float>(), inputs[kBScale].shape.rank, row_scales[row * row_step],
                                  *inputs[kYScale].As<float>()};
    for (int64_t j = 0; j < count; ++j) {
      const float sum = static_cast<float>(static_cast<int32_t>(sums[j]));
      output[at + j] = Quantised<Y>(sum * scale.FactorAt(column + j), zero);
    }
  });
}

void Run(const RunContext& context) {
  if (context.outputs[0].dtype == DType::kS8) return RunTo<int8_t>(context);
  RunTo<uint8_t>(context);
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .plan_size = sizeof(lathe::Products),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
