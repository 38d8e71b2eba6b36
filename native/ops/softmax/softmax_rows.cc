// e^(x - max) divided by its sum along the last axis: the kernel of most classifiers, without the code for columns.
#include "native/ops/softmax/softmax_row.h"

namespace lathe {
namespace {

Code Prepare(PrepareContext& context) {
  LATHE_TRY(CheckArity(context, 1, 1, 1));
  LATHE_TRY(CheckAllTypes(context, DType::kF32));
  const int64_t last = context.input(0).shape.rank - 1;
  int64_t axis = 0;
  LATHE_TRY(ReadInt(context, "axis", 0, last, &axis));
  return axis == last ? Code::kOk : context.Fail(Code::kUnsupported, "another axis than the last one");
}

Code PlanRun(PlanContext& context) { return CheckShape(context, 0, context.input(0).shape); }

void Run(const RunContext& context) {
  const Shape& shape = context.inputs[0].shape;
  const int64_t size = shape[shape.rank - 1];
  const float* from = context.inputs[0].As<float>();
  float* to = context.outputs[0].As<float>();
  if (size == 0) return;
  const int64_t grain = kElementGrain / (size < kElementGrain ? size : kElementGrain);
  context.For(shape.Count(0, shape.rank - 1), grain, [=](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) Row(from + row * size, size, to + row * size);
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
