// Convolution of s8 or u8 numbers as s32 sums.
#include "native/kernel/spatial/integer_conv.h"

namespace lathe {
namespace {

Code Prepare(PrepareContext& context) {
  LATHE_TRY(CheckArity(context, 4, 4, 1));
  if (context.output(0).dtype != DType::kS32) return context.Fail(Code::kBadModel, "its output is not s32");
  return PrepareIntegerConv(context, {0, 2, 1, 3});
}

void Run(const RunContext& context) {
  const int64_t channels = context.outputs[0].shape[3];
  int32_t* output = context.outputs[0].As<int32_t>();
  RunIntegerConv(context, [&](int64_t pixel, int64_t channel, const Sum* sums, int64_t count) {
    int32_t* to = output + pixel * channels + channel;
    for (int64_t j = 0; j < count; ++j) to[j] = static_cast<int32_t>(sums[j]);
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::IntegerConvState),
    .plan_size = sizeof(lathe::IntegerConvPlan),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanIntegerConv,
    .run = lathe::Run,
};
