// The first elements of every sequence of a batch the other way round. Run-time lengths are limited to the axis.
#include "native/kernel/loops/copy.h"
#include "native/kernel/loops/indices.h"

namespace lathe {
namespace {

struct State {
  int64_t batch_axis;
  int64_t time_axis;
};

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 2, 2, 1));
  const Tensor& x = context.input(0);
  if (SizeOf(x.dtype) == 0 || context.output(0).dtype != x.dtype) {
    return context.Fail(Code::kBadModel, "input and output differ in type");
  }
  LATHE_TRY(CheckIndices(context, 1));
  LATHE_TRY(CheckRank(context, context.input(1), 1, "the list of lengths"));
  LATHE_TRY(ReadInt(context, "batch_axis", 0, x.shape.rank - 1, &state.batch_axis));
  LATHE_TRY(ReadInt(context, "time_axis", 0, x.shape.rank - 1, &state.time_axis));
  if (state.batch_axis == state.time_axis) return context.Fail(Code::kBadModel, "batch and time are one axis");
  return Code::kOk;
}

Code PlanRun(PlanContext& context) {
  const State& state = *static_cast<const State*>(context.state());
  const Shape& in = context.input(0).shape;
  const Tensor& lengths = context.input(1);
  const int64_t time = in[static_cast<int>(state.time_axis)];
  if (lengths.shape[0] != in[static_cast<int>(state.batch_axis)]) {
    return context.Fail(Code::kBadModel, "it has the wrong number of lengths");
  }
  for (int64_t i = 0; lengths.is_constant() && i < lengths.shape[0]; ++i) {
    const int64_t length = IndexAt(lengths, i);
    if (length < 0 || length > time) return context.Fail(Code::kBadModel, "a length is out of range");
  }
  return CheckShape(context, 0, in);
}

void Run(const RunContext& context) {
  const State& state = context.State<State>();
  const Shape& in = context.inputs[0].shape;
  const Tensor& lengths = context.inputs[1];
  const int time_axis = static_cast<int>(state.time_axis);
  const int batch_axis = static_cast<int>(state.batch_axis);
  const int inner_axis = time_axis > batch_axis ? time_axis : batch_axis;  // what stands behind moves in one piece
  const int64_t bytes = in.Count(inner_axis + 1, in.rank) * static_cast<int64_t>(SizeOf(context.inputs[0].dtype));
  const int64_t time = in[time_axis];
  const int64_t batch = in[batch_axis];
  // Between neighbours along an axis, in pieces.
  const int64_t time_step = in.Count(time_axis + 1, inner_axis + 1);
  const int64_t batch_step = in.Count(batch_axis + 1, inner_axis + 1);
  const char* from = static_cast<const char*>(context.inputs[0].data);
  char* to = static_cast<char*>(context.outputs[0].data);
  if (in.Count() == 0) return;
  const int64_t grain = kCopyGrain / (bytes < kCopyGrain ? bytes : kCopyGrain);
  context.For(in.Count(0, inner_axis + 1), grain, [=, &lengths](int64_t begin, int64_t end, int) {
    for (int64_t piece = begin; piece < end; ++piece) {
      int64_t length = IndexAt(lengths, piece / batch_step % batch);
      if (length > time) length = time;
      const int64_t at = piece / time_step % time;
      const int64_t source = at < length ? piece + (length - 1 - 2 * at) * time_step : piece;
      memcpy(to + piece * bytes, from + source * bytes, static_cast<size_t>(bytes));
    }
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
