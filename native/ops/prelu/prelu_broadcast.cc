// x, or slope * x where x is negative.
#include "native/kernel/loops/vector_elementwise.h"

namespace lathe {
namespace {

struct PreluOperation : NoFinish<Element> {
  Vec operator()(Vec x, Vec slope) const { return Choose(Less(x, Fill(0.0f)), Mul(slope, x), x); }
};

using Prelu = VectorBinary<PreluOperation>;

constexpr int64_t kShortRow = 64;
constexpr int64_t kRepeated = 256;

// Slopes of short rows stand side by side often enough for long stretches.
void Run(const RunContext& context) {
  const Broadcast& plan = context.Plan<Broadcast>();
  const int64_t size = plan.dims[plan.rank - 1];
  const bool repeats = plan.rank == 2 && size <= kShortRow && plan.strides[0][0] == size && plan.strides[0][1] == 1 &&
                       plan.strides[1][0] == 0 && plan.strides[1][1] == 1;
  if (!repeats) return Prelu::Run(context);
  const float* from = context.inputs[0].As<float>();
  const float* slopes = context.inputs[1].As<float>();
  float* to = context.outputs[0].As<float>();
  context.For(plan.dims[0] * size, kElementGrain, [=](int64_t begin, int64_t end, int) {
    float repeated[kRepeated];
    const int64_t length = kRepeated / size * size;
    for (int64_t i = 0, place = begin % size; i < length; ++i, place = place + 1 < size ? place + 1 : 0) {
      repeated[i] = slopes[place];
    }
    for (int64_t at = begin; at < end; at += length) {
      const int64_t count = end - at < length ? end - at : length;
      Prelu::ApplyStretch(PreluOperation(), from + at, true, repeated, true, to + at, count);
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::PreluOperation),
    .plan_size = sizeof(lathe::Broadcast),
    .prepare = lathe::Prelu::Prepare,
    .plan = lathe::PlanBroadcast,
    .run = lathe::Run,
};
