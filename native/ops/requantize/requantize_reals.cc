// Bytes as real numbers, sixteen at a time.
#include "native/kernel/loops/elementwise.h"
#include "native/kernel/quantised/quantised_tensors.h"
#include "native/kernel/simd/sixteen.h"

namespace lathe {
namespace {

__attribute__((cold)) Code PrepareRequantizeReals(PrepareContext& context) {
  Stored& state = *static_cast<Stored*>(context.state());
  LATHE_TRY(CheckArity(context, 1, 1, 1));
  const Tensor& x = context.input(0);
  if (x.dtype != DType::kS8 || context.output(0).dtype != DType::kF32)
    return context.Fail(Code::kUnsupported, "this kernel has other element types");
  LATHE_TRY(ReadStored(context, x, &state));
  return ReadFactor(context, state.scale, 1.0f, &state.scale);
}

Code PlanRequantizeReals(PlanContext& context) { return CheckShape(context, 0, context.input(0).shape); }

void RunRequantizeReals(const RunContext& context) {
  const Stored state = context.State<Stored>();
  const int8_t* x = context.inputs[0].As<int8_t>();
  float* y = context.outputs[0].As<float>();
  context.For(context.inputs[0].shape.Count(), kElementGrain, [=](int64_t begin, int64_t end, int) {
    const Sixteen factor = Sixteen::Fill(state.scale);
    int64_t i = begin;
    for (; i + kStretch <= end; i += kStretch) (Sixteen::OfBytes(x + i, state.zero) * factor).StoreTo(y + i);
    for (; i < end; ++i) y[i] = static_cast<float>(x[i] - state.zero) * state.scale;
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::Stored),
    .prepare = lathe::PrepareRequantizeReals,
    .plan = lathe::PlanRequantizeReals,
    .run = lathe::RunRequantizeReals,
};
