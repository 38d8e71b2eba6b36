// x [..., K] times w [N, K] transposed, of halves, for every machine: sums in single precision.
#include "native/kernel/math/activation.h"
#include "native/kernel/math/convert.h"

namespace lathe {
namespace {

Code Prepare(PrepareContext& context) {
  LATHE_TRY(CheckArity(context, 2, 3, 1));
  LATHE_TRY(CheckAllTypes(context, DType::kF16));
  LATHE_TRY(CheckRank(context, context.input(1), 2, "its weight"));
  if (context.input_count() == 3) LATHE_TRY(CheckRank(context, context.input(2), 1, "its bias"));
  const int rank = context.input(0).shape.rank;
  if (rank < 1) return context.Fail(Code::kBadModel, "its input has the wrong rank");
  LATHE_TRY(CheckRank(context, context.output(0), rank, "its output"));
  return ReadActivation(context, static_cast<Activation*>(context.state()));
}

Code Plan(PlanContext& context) {
  const Shape& in = context.input(0).shape;
  const Shape& weight = context.input(1).shape;
  if (in[-1] != weight[1]) return context.Fail(Code::kBadModel, "input and weight differ in depth");
  if (context.input_count() == 3 && context.input(2).shape[0] != weight[0]) {
    return context.Fail(Code::kBadModel, "the bias does not have one element per output");
  }
  Shape expected = in;
  expected.dims[in.rank - 1] = weight[0];
  return CheckShape(context, 0, expected);
}

void Run(const RunContext& context) {
  const Activation& activation = context.State<Activation>();
  const int64_t depth = context.inputs[1].shape[1];
  const int64_t outputs = context.inputs[1].shape[0];
  const Half* weights = context.inputs[1].As<Half>();
  const Half* bias = context.input_count > 2 ? context.inputs[2].As<Half>() : nullptr;
  Half* to = context.outputs[0].As<Half>();
  context.For(context.outputs[0].shape.Count(), 16, [&](int64_t begin, int64_t end, int) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t row = at / outputs;
      const int64_t output = at - row * outputs;
      const Half* x = context.inputs[0].As<Half>() + row * depth;
      const Half* w = weights + output * depth;
      float sum = bias != nullptr ? Widen(bias[output]) : 0.0f;
      for (int64_t k = 0; k < depth; ++k) sum += Widen(x[k]) * Widen(w[k]);
      Activate(activation, &sum, 1);
      to[at] = Convert<Half>(sum);
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::Activation),
    .prepare = lathe::Prepare,
    .plan = lathe::Plan,
    .run = lathe::Run,
};
