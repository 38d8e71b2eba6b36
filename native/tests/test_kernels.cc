// Kernels for the tests of the core. They are as careful as real ones: the hostile models run through them.
#include <string.h>

#include "native/runtime/kernel.h"

namespace lathe {
namespace {

Code CheckFloats(const PrepareContext& context, int inputs) {
  if (context.input_count() != inputs || context.output_count() != 1)
    return context.Fail(Code::kBadModel, "has %d inputs, needs %d", context.input_count(), inputs);
  for (int i = 0; i < inputs; ++i) {
    if (context.input(i).dtype != DType::kF32) return context.Fail(Code::kUnsupported, "runs f32 only");
  }
  if (context.output(0).dtype != DType::kF32) return context.Fail(Code::kUnsupported, "runs f32 only");
  return Code::kOk;
}

Code PrepareUnary(PrepareContext& context) { return CheckFloats(context, 1); }
Code PrepareBinary(PrepareContext& context) { return CheckFloats(context, 2); }

Code PlanSameShape(PlanContext& context) {
  for (int i = 0; i < context.input_count(); ++i) {
    if (context.input(i).shape != context.output(0).shape)
      return context.Fail(Code::kBadModel, "input %d and the output differ in shape", i);
  }
  return Code::kOk;
}

void RunRelu(const RunContext& context) {
  const float* x = context.inputs[0].As<float>();
  float* y = context.outputs[0].As<float>();
  context.For(context.outputs[0].shape.Count(), 16, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) y[i] = x[i] > 0 ? x[i] : 0;
  });
}

void RunAdd(const RunContext& context) {
  const float* a = context.inputs[0].As<float>();
  const float* b = context.inputs[1].As<float>();
  float* y = context.outputs[0].As<float>();
  context.For(context.outputs[0].shape.Count(), 16, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) y[i] = a[i] + b[i];
  });
}

// y = x * factor * w[0]: has an attribute, packs a constant, keeps a plan, and wants scratch memory.
struct ScaleState {
  float factor;
  float* packed;
};
struct ScalePlan {
  int64_t count;
};

Code PrepareScale(PrepareContext& context) {
  LATHE_TRY(CheckFloats(context, 2));
  auto* state = static_cast<ScaleState*>(context.state());
  LATHE_TRY(context.Float("factor", &state->factor));
  const Tensor& w = context.input(1);
  if (!w.is_constant() || w.shape.Count() != 1) return context.Fail(Code::kUnsupported, "needs a constant factor");
  state->packed = static_cast<float*>(context.Allocate(sizeof(float)));
  if (state->packed == nullptr) return context.Fail(Code::kOutOfMemory, "no memory for weights");
  *state->packed = *w.As<float>();
  return Code::kOk;
}

Code PlanScale(PlanContext& context) {
  if (context.input(0).shape != context.output(0).shape) return context.Fail(Code::kBadModel, "shapes differ");
  static_cast<ScalePlan*>(context.plan())->count = context.output(0).shape.Count();
  context.RequestScratch(static_cast<size_t>(context.output(0).shape.Count()) * sizeof(float));
  return Code::kOk;
}

void RunScale(const RunContext& context) {
  const ScaleState& state = context.State<ScaleState>();
  const int64_t count = context.Plan<ScalePlan>().count;
  float* scratch = static_cast<float*>(context.scratch);
  for (int64_t i = 0; i < count; ++i) scratch[i] = context.inputs[0].As<float>()[i] * state.factor;
  for (int64_t i = 0; i < count; ++i) context.outputs[0].As<float>()[i] = scratch[i] * *state.packed;
}

Code PlanView(PlanContext& context) {
  Span<const int64_t> shape, again;
  LATHE_TRY(context.Dims("shape", &shape));
  LATHE_TRY(context.Dims("shape", &again));
  const Shape& out = context.output(0).shape;
  if (shape.data() != again.data() || shape.size() != static_cast<size_t>(out.rank))
    return context.Fail(Code::kBadModel, "attribute 'shape' is not the output's");
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != out.dims[i]) return context.Fail(Code::kBadModel, "attribute 'shape' is not the output's");
  }
  if (context.input(0).shape.Count() == out.Count()) return Code::kOk;
  return context.Fail(Code::kBadModel, "the number of elements changes");
}

void RunView(const RunContext& context) {
  const Tensor& y = context.outputs[0];
  if (y.data != context.inputs[0].data)
    memcpy(y.data, context.inputs[0].data, static_cast<size_t>(y.shape.Count()) * sizeof(float));
}

// Two kernels of one operator; the first takes mode 1 only.
Code PreparePicky(PrepareContext& context) {
  LATHE_TRY(CheckFloats(context, 1));
  int64_t mode = 0;
  LATHE_TRY(context.Int("mode", &mode));
  return mode == 1 ? Code::kOk : context.Fail(Code::kUnsupported, "mode %lld", static_cast<long long>(mode));
}

Code PrepareLenient(PrepareContext& context) {
  LATHE_TRY(CheckFloats(context, 1));
  int64_t mode = 0;
  LATHE_TRY(context.Int("mode", &mode));
  return mode != 9 ? Code::kOk : context.Fail(Code::kUnsupported, "mode 9");
}

template <int number>
void RunFill(const RunContext& context) {
  for (int64_t i = 0; i < context.outputs[0].shape.Count(); ++i) context.outputs[0].As<float>()[i] = number;
}

// Keeps the positive numbers: only the data decides how many there are.
Code PlanKeep(PlanContext& context) {
  const Shape& in = context.input(0).shape;
  const Shape& out = context.output(0).shape;
  if (in.rank == 1 && out.rank == 1 && out[0] >= in[0]) return Code::kOk;
  return context.Fail(Code::kBadModel, "its output has no room for its input");
}

void RunKeep(const RunContext& context) {
  const float* x = context.inputs[0].As<float>();
  Tensor& y = context.outputs[0];
  int64_t count = 0;
  for (int64_t i = 0; i < context.inputs[0].shape[0]; ++i) {
    if (x[i] > 0) y.As<float>()[count++] = x[i];
  }
  y.shape.dims[0] = count;
}

// Whether the first number is below a limit.
Code PrepareBelow(PrepareContext& context) {
  if (context.input_count() != 1 || context.output_count() != 1 || context.input(0).dtype != DType::kF32 ||
      context.output(0).dtype != DType::kBool)
    return context.Fail(Code::kBadModel, "needs f32 and gives bool");
  return context.Float("limit", static_cast<float*>(context.state()));
}

Code PlanBelow(PlanContext& context) {
  if (context.input(0).shape.Count() > 0 && context.output(0).shape.Count() == 1) return Code::kOk;
  return context.Fail(Code::kBadModel, "needs a number and gives one");
}

void RunBelow(const RunContext& context) {
  *context.outputs[0].As<uint8_t>() = *context.inputs[0].As<float>() < context.State<float>() ? 1 : 0;
}

// `join` and `split` along an axis. What is a part stands in the whole where the plan allows it.
template <bool splits>
const Tensor& PartAt(const PlanContext& context, int index) {
  return splits ? context.output(index) : context.input(index);
}

template <bool splits>
Code PrepareParts(PrepareContext& context) {
  const int wholes = splits ? context.input_count() : context.output_count();
  const int parts = splits ? context.output_count() : context.input_count();
  if (wholes != 1 || parts < 1) return context.Fail(Code::kBadModel, "needs parts and one whole");
  const int rank = context.input(0).shape.rank;
  for (int i = 0; i < context.input_count() + context.output_count(); ++i) {
    const Tensor& tensor = i < context.input_count() ? context.input(i) : context.output(i - context.input_count());
    if (tensor.dtype != DType::kF32 || tensor.shape.rank != rank)
      return context.Fail(Code::kUnsupported, "runs f32 of one rank only");
  }
  int64_t* axis = static_cast<int64_t*>(context.state());
  LATHE_TRY(context.Int("axis", axis));
  return *axis >= 0 && *axis < rank ? Code::kOk : context.Fail(Code::kBadModel, "there is no such axis");
}

template <bool splits>
Code PlanParts(PlanContext& context) {
  const int axis = static_cast<int>(*static_cast<const int64_t*>(context.state()));
  const Shape& whole = splits ? context.input(0).shape : context.output(0).shape;
  const int parts = splits ? context.output_count() : context.input_count();
  int64_t at = 0;
  for (int i = 0; i < parts; ++i) {
    Shape part = PartAt<splits>(context, i).shape;
    const int64_t size = part.dims[axis];
    if (size > whole.dims[axis] - at) return context.Fail(Code::kBadModel, "the parts are longer than the whole");
    part.dims[axis] = whole.dims[axis];
    if (part != whole) return context.Fail(Code::kBadModel, "part %d and the whole differ beside the axis", i);
    const int64_t element = at * whole.Count(axis + 1, whole.rank);
    if (splits) {
      context.OutputInInput(i, element);
    } else {
      context.InputInOutput(i, element);
    }
    at += size;
  }
  return at == whole.dims[axis] ? Code::kOk : context.Fail(Code::kBadModel, "the parts are shorter than the whole");
}

// Row by row of the last axis; those of a part may lie apart.
template <bool splits>
void RunParts(const RunContext& context) {
  const int axis = static_cast<int>(context.State<int64_t>());
  const Tensor& whole = splits ? context.inputs[0] : context.outputs[0];
  const int last = whole.shape.rank - 1;
  int64_t at = 0;
  for (int i = 0; i < (splits ? context.output_count : context.input_count); ++i) {
    const Tensor& part = splits ? context.outputs[i] : context.inputs[i];
    const int64_t width = part.shape[-1], rows = width > 0 ? part.shape.Count(0, last) : 0;
    const int64_t run = axis < last ? part.shape.Count(axis, last) : 1;
    const int64_t step = axis < last ? whole.shape.Count(axis, last) : 1;
    const int64_t first = axis < last ? at * whole.shape.Count(axis + 1, last) : 0;
    for (int64_t row = 0; row < rows; ++row) {
      float* in_whole = static_cast<float*>(whole.data) + (row / run * step + first + row % run) * whole.RowStep() +
                        (axis < last ? 0 : at);
      float* in_part = static_cast<float*>(part.data) + row * part.RowStep();
      if (in_whole == in_part) continue;
      memcpy(splits ? in_part : in_whole, splits ? in_whole : in_part, static_cast<size_t>(width) * sizeof(float));
    }
    at += part.shape[axis];
  }
}

// x + 1, of rows that may lie apart.
void RunLift(const RunContext& context) {
  const Tensor& x = context.inputs[0];
  const Tensor& y = context.outputs[0];
  const int64_t width = x.shape[-1], rows = width > 0 ? x.shape.Count(0, x.shape.rank - 1) : 0;
  for (int64_t i = 0; i < rows * width; ++i)
    static_cast<float*>(y.data)[i / width * y.RowStep() + i % width] =
        x.As<float>()[i / width * x.RowStep() + i % width] + 1;
}

}  // namespace
}  // namespace lathe

using namespace lathe;  // NOLINT: kernels are defined at global scope

LATHE_DEFINE_KERNEL(relu_f32_test__portable, relu, 0, 0, kNo,
                    (KernelFunctions{.prepare = PrepareUnary, .plan = PlanSameShape, .run = RunRelu}));
LATHE_DEFINE_KERNEL(add_f32_test__portable, add, 0, 0, kNo,
                    (KernelFunctions{.prepare = PrepareBinary, .plan = PlanSameShape, .run = RunAdd}));
LATHE_DEFINE_KERNEL(scale_f32_test__portable, scale, -1, 0, kNo,
                    (KernelFunctions{.state_size = sizeof(ScaleState),
                                     .plan_size = sizeof(ScalePlan),
                                     .prepare = PrepareScale,
                                     .plan = PlanScale,
                                     .run = RunScale}));
LATHE_DEFINE_KERNEL(view_f32_test__portable, view, 0, 0, kNo,
                    (KernelFunctions{.prepare = PrepareUnary, .plan = PlanView, .run = RunView}));
LATHE_DEFINE_KERNEL(pick_f32_first__portable, pick, -1, 0, kNo,
                    (KernelFunctions{.prepare = PreparePicky, .run = RunFill<1>}));
LATHE_DEFINE_KERNEL(pick_f32_second__portable, pick, -1, 0, kNo,
                    (KernelFunctions{.prepare = PrepareLenient, .run = RunFill<2>}));
// One for each instruction set, by name: the machine must have it before one of them is asked.
LATHE_DEFINE_KERNEL(level_f32_test__vnni, level, -1, 0, kNo,
                    (KernelFunctions{.prepare = PrepareUnary, .run = RunFill<1>}));
LATHE_DEFINE_KERNEL(level_f32_test__avx512, level, -1, 0, kNo,
                    (KernelFunctions{.prepare = PrepareUnary, .run = RunFill<2>}));
LATHE_DEFINE_KERNEL(level_f32_test__avx2, level, -1, 0, kNo,
                    (KernelFunctions{.prepare = PrepareUnary, .run = RunFill<3>}));
LATHE_DEFINE_KERNEL(level_f32_test__i8mm, level, -1, 0, kNo,
                    (KernelFunctions{.prepare = PrepareUnary, .run = RunFill<4>}));
LATHE_DEFINE_KERNEL(level_f32_test__dotprod, level, -1, 0, kNo,
                    (KernelFunctions{.prepare = PrepareUnary, .run = RunFill<5>}));
LATHE_DEFINE_KERNEL(level_f32_test__fp16, level, -1, 0, kNo,
                    (KernelFunctions{.prepare = PrepareUnary, .run = RunFill<6>}));
LATHE_DEFINE_KERNEL(level_f32_test__neon, level, -1, 0, kNo,
                    (KernelFunctions{.prepare = PrepareUnary, .run = RunFill<7>}));
LATHE_DEFINE_KERNEL(level_f32_test__neonv7, level, -1, 0, kNo,
                    (KernelFunctions{.prepare = PrepareUnary, .run = RunFill<8>}));
LATHE_DEFINE_KERNEL(level_f32_test__rvv, level, -1, 0, kNo,
                    (KernelFunctions{.prepare = PrepareUnary, .run = RunFill<9>}));
LATHE_DEFINE_KERNEL(level_f32_test__portable, level, -1, 0, kNo,
                    (KernelFunctions{.prepare = PrepareUnary, .run = RunFill<10>}));
LATHE_DEFINE_KERNEL(keep_f32_test__portable, keep, -1, 0, kNo,
                    (KernelFunctions{.prepare = PrepareUnary, .plan = PlanKeep, .run = RunKeep}));
LATHE_DEFINE_KERNEL(below_f32_test__portable, below, -1, 0, kNo,
                    (KernelFunctions{
                        .state_size = sizeof(float), .prepare = PrepareBelow, .plan = PlanBelow, .run = RunBelow}));
LATHE_DEFINE_KERNEL(join_f32_test__portable, join, -1, 0, kNo,
                    (KernelFunctions{.state_size = sizeof(int64_t),
                                     .prepare = PrepareParts<false>,
                                     .plan = PlanParts<false>,
                                     .run = RunParts<false>}));
LATHE_DEFINE_KERNEL(
    split_f32_test__portable, split, -1, 0, kNo,
    (KernelFunctions{
        .state_size = sizeof(int64_t), .prepare = PrepareParts<true>, .plan = PlanParts<true>, .run = RunParts<true>}));
LATHE_DEFINE_KERNEL(lift_f32_test__portable, lift, 0, 0, kNo,
                    (KernelFunctions{.prepare = PrepareUnary, .plan = PlanSameShape, .run = RunLift}));
