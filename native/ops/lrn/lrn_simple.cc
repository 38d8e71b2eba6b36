// x divided by a power of the sum of squares over neighbouring channels.
#include "native/kernel/loops/elementwise.h"
#include "native/kernel/math/math.h"

namespace lathe {
namespace {

struct State {
  int64_t size;
  float alpha;
  float beta;
  float bias;
};

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 1, 1, 1));
  LATHE_TRY(CheckAllTypes(context, DType::kF32));
  if (context.input(0).shape.rank < 1) return context.Fail(Code::kBadModel, "its input has no axis of channels");
  LATHE_TRY(ReadInt(context, "size", 1, kMaxExtent, &state.size));
  LATHE_TRY(context.Float("alpha", &state.alpha));
  LATHE_TRY(context.Float("beta", &state.beta));
  return context.Float("bias", &state.bias);
}

Code PlanRun(PlanContext& context) { return CheckShape(context, 0, context.input(0).shape); }

void RunPixel(const State& state, const float* from, int64_t channels, float* to) {
  const int64_t before = (state.size - 1) / 2;
  const double factor = static_cast<double>(state.alpha) / static_cast<double>(state.size);
  for (int64_t c = 0; c < channels; ++c) {
    const int64_t begin = c > before ? c - before : 0;
    const int64_t end = c - before + state.size < channels ? c - before + state.size : channels;
    double sum = 0.0;
    for (int64_t i = begin; i < end; ++i) sum += static_cast<double>(from[i]) * static_cast<double>(from[i]);
    const float base = static_cast<float>(static_cast<double>(state.bias) + factor * sum);
    to[c] = from[c] * Powf(base, -state.beta);
  }
}

void Run(const RunContext& context) {
  const State& state = context.State<State>();
  const Shape& shape = context.inputs[0].shape;
  const int64_t channels = shape[-1];
  const float* from = context.inputs[0].As<float>();
  float* to = context.outputs[0].As<float>();
  if (channels == 0) return;
  const int64_t grain = kElementGrain / (channels < kElementGrain ? channels : kElementGrain);
  context.For(shape.Count(0, shape.rank - 1), grain, [=, &state](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) RunPixel(state, from + i * channels, channels, to + i * channels);
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
