// Convolution of s8 or u8 numbers, with the s32 sums quantised again.
#include "native/kernel/spatial/integer_conv.h"

namespace lathe {
namespace {

enum Inputs { kX, kXScale, kXZero, kW, kWScale, kWZero, kYScale, kYZero, kBias };

Code Prepare(PrepareContext& context) {
  LATHE_TRY(CheckArity(context, kBias, kBias + 1, 1));
  const DType to = context.output(0).dtype;
  if (!IsByte(to)) return context.Fail(Code::kUnsupported, "this kernel has other output types");
  LATHE_TRY(CheckScalar(context, kXScale, DType::kF32));
  LATHE_TRY(CheckScalarOrRow(context, kWScale, DType::kF32));
  LATHE_TRY(CheckScalar(context, kYScale, DType::kF32));
  LATHE_TRY(CheckScalar(context, kYZero, to));
  if (context.input_count() > kBias) LATHE_TRY(CheckScalarOrRow(context, kBias, DType::kS32));
  return PrepareIntegerConv(context, {kX, kXZero, kW, kWZero});
}

Code PlanRun(PlanContext& context) {
  LATHE_TRY(PlanIntegerConv(context));
  const int64_t outputs = context.output(0).shape[3];
  LATHE_TRY(CheckRowLength(context, kWScale, outputs));
  return context.input_count() > kBias ? CheckRowLength(context, kBias, outputs) : Code::kOk;
}

template <typename Y>
void RunTo(const RunContext& context) {
  const Tensor* inputs = context.inputs;
  const Requantisation scale = {inputs[kWScale].As<float>(), inputs[kWScale].shape.rank, *inputs[kXScale].As<float>(),
                                *inputs[kYScale].As<float>()};
  const int32_t zero = ZeroPointAt(inputs[kYZero], 0);
  const int32_t* bias = context.input_count > kBias ? inputs[kBias].As<int32_t>() : nullptr;
  const int64_t bias_step = bias != nullptr ? inputs[kBias].shape.rank : 0;
  const int64_t channels = context.outputs[0].shape[3];
  Y* output = context.outputs[0].As<Y>();
  RunIntegerConv(context, [&](int64_t pixel, int64_t channel, const Sum* sums, int64_t count) {
    Y* to = output + pixel * channels + channel;
    for (int64_t j = 0; j < count; ++j) {
      const Sum added = bias == nullptr ? 0 : static_cast<Sum>(bias[(channel + j) * bias_step]);
      const float sum = static_cast<float>(static_cast<int32_t>(sums[j] + added));
      to[j] = Quantised<Y>(sum * scale.FactorAt(channel + j), zero);
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
    .state_size = sizeof(lathe::IntegerConvState),
    .plan_size = sizeof(lathe::IntegerConvPlan),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
