// (x - zero_point) * scale: for whole tensors, per element of an axis, and per block.
#include "native/kernel/loops/typed.h"
#include "native/kernel/quantised/quantised.h"

namespace lathe {
namespace {

using Dequantise = void (*)(const RunContext& context, int64_t begin, int64_t end);

struct State {
  AffineState affine;
  Dequantise dequantise;
};

template <typename From, typename To>
void DequantiseAll(const RunContext& context, int64_t begin, int64_t end) {
  const From* x = context.inputs[0].As<From>();
  const To* scale = context.inputs[1].As<To>();
  const From* zero_point = context.input_count > 2 ? context.inputs[2].As<From>() : nullptr;
  To* y = context.outputs[0].As<To>();
  ForAffineStretches(context.Plan<AffinePlan>(), begin, end,
                     [&](int64_t at, int64_t last, int64_t index, int64_t step) {
                       for (; at < last; ++at, index += step) {
                         const int64_t zero = zero_point == nullptr ? 0 : zero_point[index];
                         y[at] = Convert<To>(static_cast<float>(x[at] - zero) * Widen(scale[index]));
                       }
                     });
}

template <typename From>
struct ToFloat {
  static void Apply(const RunContext& context, int64_t begin, int64_t end) {
    DequantiseAll<From, float>(context, begin, end);
  }
};

template <typename From>
struct ToHalf {
  static void Apply(const RunContext& context, int64_t begin, int64_t end) {
    DequantiseAll<From, Half>(context, begin, end);
  }
};

Code Prepare(PrepareContext& context) {
  using Sources = Types<int8_t, uint8_t, int16_t, uint16_t, int32_t>;
  State& state = *static_cast<State*>(context.state());
  const DType from = context.input(0).dtype;
  const DType to = context.output(0).dtype;
  if (to == DType::kF32) state.dequantise = FindFor<Dequantise, ToFloat>(from, Sources());
  if (to == DType::kF16) state.dequantise = FindFor<Dequantise, ToHalf>(from, Sources());
  if (state.dequantise == nullptr) return context.Fail(Code::kUnsupported, "this kernel has other element types");
  if (context.input(1).dtype != to) return context.Fail(Code::kBadModel, "its scale has another type than y");
  return PrepareAffine(context, from);
}

void Run(const RunContext& context) {
  const Dequantise dequantise = context.State<State>().dequantise;
  context.For(context.outputs[0].shape.Count(), kElementGrain,
              [&](int64_t begin, int64_t end, int) { dequantise(context, begin, end); });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .plan_size = sizeof(lathe::AffinePlan),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanAffine,
    .run = lathe::Run,
};
