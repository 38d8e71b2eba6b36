// Consecutive parts of the input along an axis, one output each.
#include "native/kernel/loops/copy.h"

namespace lathe {
namespace {

struct State {
  int64_t axis;
};

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  if (context.output_count() < 1) return context.Fail(Code::kBadModel, "it has no outputs");
  LATHE_TRY(CheckArity(context, 1, 1, context.output_count()));
  LATHE_TRY(CheckSameTypes(context));
  const int rank = context.input(0).shape.rank;
  LATHE_TRY(ReadInt(context, "axis", 0, rank - 1, &state.axis));
  for (int i = 0; i < context.output_count(); ++i) LATHE_TRY(CheckRank(context, context.output(i), rank, "an output"));
  return Code::kOk;
}

// The outputs' shapes say the sizes; they have to add up to the input's.
Code PlanRun(PlanContext& context) {
  const int axis = static_cast<int>(static_cast<const State*>(context.state())->axis);
  const Shape& in = context.input(0).shape;
  int64_t rest = in[axis];
  for (int i = 0; i < context.output_count(); ++i) {
    Shape shape = context.output(i).shape;
    const int64_t size = shape[axis];
    shape.dims[axis] = in[axis];
    if (shape != in || size > rest) return context.Fail(Code::kBadModel, "its outputs do not add up to its input");
    rest -= size;
  }
  return rest == 0 ? Code::kOk : context.Fail(Code::kBadModel, "its outputs do not add up to its input");
}

void Run(const RunContext& context) {
  const int axis = static_cast<int>(context.State<State>().axis);
  const Shape& in = context.inputs[0].shape;
  const int64_t element = static_cast<int64_t>(SizeOf(context.inputs[0].dtype));
  const int64_t in_bytes = in.Count(axis, in.rank) * element;
  const char* from = static_cast<const char*>(context.inputs[0].data);
  for (int i = 0; i < context.output_count; ++i) {
    const int64_t bytes = context.outputs[i].shape.Count(axis, in.rank) * element;
    CopyRows(context, from, in_bytes, context.outputs[i].data, bytes, in.Count(0, axis), bytes);
    from += bytes;
  }
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
