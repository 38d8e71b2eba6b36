// A tensor repeated whole along its axes. What stands from the last repeated axis on is one stretch of memory: it is
// copied once and then doubled until the row is full.
#include "native/kernel/loops/copy.h"

namespace lathe {
namespace {

struct State {
  int64_t repeats[kMaxRank];
  int32_t row_axis;  // the last axis that is repeated
};

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 1, 1, 1));
  LATHE_TRY(CheckSameTypes(context));
  const int rank = context.input(0).shape.rank;
  LATHE_TRY(ReadInts(context, "repeats", rank, 0, kMaxExtent, state.repeats));
  for (int axis = 0; axis < rank; ++axis) {
    if (state.repeats[axis] != 1) state.row_axis = axis;
  }
  return Code::kOk;
}

Code PlanRun(PlanContext& context) {
  const State& state = *static_cast<const State*>(context.state());
  Shape expected = context.input(0).shape;
  for (int axis = 0; axis < expected.rank; ++axis) {
    if (state.repeats[axis] > 1 && expected.dims[axis] > INT64_MAX / state.repeats[axis]) {
      return context.Fail(Code::kBadModel, "it is too large");
    }
    expected.dims[axis] *= state.repeats[axis];
  }
  return CheckShape(context, 0, expected);
}

void FillRow(const char* from, int64_t piece, char* to, int64_t row) {
  memcpy(to, from, static_cast<size_t>(piece));
  for (int64_t done = piece; done < row;) {
    const int64_t count = done < row - done ? done : row - done;
    memcpy(to + done, to, static_cast<size_t>(count));
    done += count;
  }
}

void Run(const RunContext& context) {
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  if (in.rank == 0) return RunWholeCopy(context);
  if (out.Count() == 0) return;
  const int axis = context.State<State>().row_axis;
  const int64_t element = static_cast<int64_t>(SizeOf(context.inputs[0].dtype));
  const int64_t piece = in.Count(axis, in.rank) * element;
  const int64_t row = out.Count(axis, out.rank) * element;
  const char* from = static_cast<const char*>(context.inputs[0].data);
  char* to = static_cast<char*>(context.outputs[0].data);
  const int64_t grain = kCopyGrain / (row < kCopyGrain ? row : kCopyGrain);
  context.For(out.Count(0, axis), grain, [=, &in, &out](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      int64_t source = 0;
      int64_t pace = 1;
      int64_t index = item;
      for (int outer = axis - 1; outer >= 0; --outer) {
        source += index % out[outer] % in[outer] * pace;
        index /= out[outer];
        pace *= in[outer];
      }
      FillRow(from + source * piece, piece, to + item * row, row);
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
