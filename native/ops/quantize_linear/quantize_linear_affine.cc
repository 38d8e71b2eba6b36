// x / scale, rounded half to even, plus the zero point: for whole tensors, per element of an axis, and per block.
#include "native/kernel/loops/typed.h"
#include "native/kernel/quantised/quantised.h"

namespace lathe {
namespace {

using Quantise = void (*)(const RunContext& context, int64_t begin, int64_t end);

struct State {
  AffineState affine;
  Quantise quantise;
};

template <typename From, typename To>
void QuantiseAll(const RunContext& context, int64_t begin, int64_t end) {
  const From* x = context.inputs[0].As<From>();
  const From* scale = context.inputs[1].As<From>();
  const To* zero_point = context.input_count > 2 ? context.inputs[2].As<To>() : nullptr;
  To* y = context.outputs[0].As<To>();
  ForAffineStretches(
      context.Plan<AffinePlan>(), begin, end, [&](int64_t at, int64_t last, int64_t index, int64_t step) {
        for (; at < last; ++at, index += step) {
          y[at] = Quantised<To>(Widen(x[at]) / Widen(scale[index]), zero_point == nullptr ? 0 : zero_point[index]);
        }
      });
}

template <typename To>
struct FromFloat {
  static void Apply(const RunContext& context, int64_t begin, int64_t end) {
    QuantiseAll<float, To>(context, begin, end);
  }
};

template <typename To>
struct FromHalf {
  static void Apply(const RunContext& context, int64_t begin, int64_t end) {
    QuantiseAll<Half, To>(context, begin, end);
  }
};

Code Prepare(PrepareContext& context) {
  using Results = Types<int8_t, uint8_t, int16_t, uint16_t>;
  State& state = *static_cast<State*>(context.state());
  const DType from = context.input(0).dtype;
  const DType to = context.output(0).dtype;
  if (from == DType::kF32) state.quantise = FindFor<Quantise, FromFloat>(to, Results());
  if (from == DType::kF16) state.quantise = FindFor<Quantise, FromHalf>(to, Results());
  if (state.quantise == nullptr) return context.Fail(Code::kUnsupported, "this kernel has other element types");
  if (context.input(1).dtype != from) return context.Fail(Code::kBadModel, "its scale has another type than x");
  return PrepareAffine(context, to);
}

void Run(const RunContext& context) {
  const Quantise quantise = context.State<State>().quantise;
  context.For(context.outputs[0].shape.Count(), kElementGrain,
              [&](int64_t begin, int64_t end, int) { quantise(context, begin, end); });
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
