// (x - mean) * scale / sqrt(variance + epsilon) + bias, per channel. The factors are computed at each run into
// scratch: they cost little, and none of the operands need be constant.
#include "native/kernel/loops/elementwise.h"

namespace lathe {
namespace {

struct State {
  float epsilon;
};

Code Prepare(PrepareContext& context) {
  LATHE_TRY(CheckArity(context, 5, 5, 1));
  LATHE_TRY(CheckAllTypes(context, DType::kF32));
  if (context.input(0).shape.rank < 1) return context.Fail(Code::kBadModel, "its input has no axis of channels");
  for (int i = 1; i < 5; ++i) LATHE_TRY(CheckRank(context, context.input(i), 1, "a statistic"));
  return context.Float("epsilon", &static_cast<State*>(context.state())->epsilon);
}

Code PlanRun(PlanContext& context) {
  const int64_t channels = context.input(0).shape[-1];
  for (int i = 1; i < 5; ++i) {
    if (context.input(i).shape[0] != channels) {
      return context.Fail(Code::kBadModel, "a statistic does not have one element per channel");
    }
  }
  LATHE_TRY(CheckShape(context, 0, context.input(0).shape));
  return RequestScratch(context, channels * static_cast<int64_t>(sizeof(float)));
}

void Run(const RunContext& context) {
  const Shape& shape = context.inputs[0].shape;
  const int64_t channels = shape[-1];
  const float* x = context.inputs[0].As<float>();
  const float* scale = context.inputs[1].As<float>();
  const float* bias = context.inputs[2].As<float>();
  const float* mean = context.inputs[3].As<float>();
  const float* variance = context.inputs[4].As<float>();
  const float epsilon = context.State<State>().epsilon;
  float* to = context.outputs[0].As<float>();
  float* factor = static_cast<float*>(context.scratch);
  if (channels == 0) return;
  for (int64_t c = 0; c < channels; ++c) factor[c] = scale[c] / __builtin_sqrtf(variance[c] + epsilon);
  const int64_t grain = kElementGrain / (channels < kElementGrain ? channels : kElementGrain);
  context.For(shape.Count(0, shape.rank - 1), grain, [=](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      const float* from = x + row * channels;
      for (int64_t c = 0; c < channels; ++c) to[row * channels + c] = (from[c] - mean[c]) * factor[c] + bias[c];
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
