// The slices along an axis for which a condition holds, packed.
#include "native/kernel/loops/copy.h"

namespace lathe {
namespace {

struct State {
  int64_t axis;
};

Code Prepare(PrepareContext& context) {
  LATHE_TRY(CheckArity(context, 2, 2, 1));
  const Tensor& x = context.input(0);
  if (SizeOf(x.dtype) == 0 || context.output(0).dtype != x.dtype) {
    return context.Fail(Code::kBadModel, "input and output differ in type");
  }
  if (context.input(1).dtype != DType::kBool) return context.Fail(Code::kBadModel, "its condition is not bool");
  LATHE_TRY(CheckRank(context, context.input(1), 1, "its condition"));
  LATHE_TRY(CheckRank(context, context.output(0), x.shape.rank, "its output"));
  return ReadInt(context, "axis", 0, x.shape.rank - 1, &static_cast<State*>(context.state())->axis);
}

Code PlanRun(PlanContext& context) {
  const int axis = static_cast<int>(static_cast<const State*>(context.state())->axis);
  Shape expected = context.input(0).shape;
  const int64_t count = context.input(1).shape[0];
  if (count > expected[axis]) return context.Fail(Code::kBadModel, "its condition is longer than the axis");
  const int64_t room = context.output(0).shape[axis];
  if (room < count) return context.Fail(Code::kBadModel, "its output has too little room");
  expected.dims[axis] = room;
  return CheckShape(context, 0, expected);
}

void Run(const RunContext& context) {
  const int axis = static_cast<int>(context.State<State>().axis);
  const Shape& in = context.inputs[0].shape;
  const uint8_t* condition = context.inputs[1].As<uint8_t>();
  const int64_t slices = context.inputs[1].shape[0];
  const int64_t outer = in.Count(0, axis);
  const int64_t bytes = in.Count(axis + 1, in.rank) * static_cast<int64_t>(SizeOf(context.inputs[0].dtype));
  int64_t count = 0;
  for (int64_t i = 0; i < slices; ++i) count += condition[i] != 0 ? 1 : 0;
  const char* from = static_cast<const char*>(context.inputs[0].data);
  char* to = static_cast<char*>(context.outputs[0].data);
  for (int64_t i = 0; i < slices; ++i) {
    if (condition[i] == 0) continue;
    CopyRows(context, from + i * bytes, in[axis] * bytes, to, count * bytes, outer, bytes);
    to += bytes;
  }
  context.outputs[0].shape.dims[axis] = count;
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
