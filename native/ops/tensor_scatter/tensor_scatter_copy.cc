// A cache with one stretch replaced per sample. A stretch that a run-time start leads outside (when not circular) is
// moved to the nearest place inside.
#include "native/kernel/loops/copy.h"
#include "native/kernel/loops/indices.h"

namespace lathe {
namespace {

struct State {
  int64_t axis;
  bool circular;
};

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 2, 3, 1));
  const Tensor& cache = context.input(0);
  const DType dtype = cache.dtype;
  if (SizeOf(dtype) == 0 || context.input(1).dtype != dtype || context.output(0).dtype != dtype) {
    return context.Fail(Code::kBadModel, "cache, update and output differ in type");
  }
  LATHE_TRY(CheckRank(context, context.input(1), cache.shape.rank, "the update"));
  if (context.input_count() > 2) {
    LATHE_TRY(CheckIndices(context, 2));
    LATHE_TRY(CheckRank(context, context.input(2), 1, "the list of starts"));
  }
  LATHE_TRY(ReadBool(context, "circular", &state.circular));
  return ReadInt(context, "axis", 1, cache.shape.rank - 1, &state.axis);
}

Code PlanRun(PlanContext& context) {
  const State& state = *static_cast<const State*>(context.state());
  const int axis = static_cast<int>(state.axis);
  const Shape& cache = context.input(0).shape;
  Shape update = context.input(1).shape;
  const int64_t count = update[axis];
  if (count > cache[axis]) return context.Fail(Code::kBadModel, "its update is longer than its cache");
  update.dims[axis] = cache[axis];
  if (update != cache) return context.Fail(Code::kBadModel, "its update differs from its cache beside the axis");
  if (context.input_count() > 2) {
    const Tensor& starts = context.input(2);
    if (starts.shape[0] != cache[0]) return context.Fail(Code::kBadModel, "it has the wrong number of starts");
    for (int64_t i = 0; !state.circular && starts.is_constant() && i < starts.shape[0]; ++i) {
      const int64_t start = IndexAt(starts, i);
      if (start < 0 || start > cache[axis] - count) return context.Fail(Code::kBadModel, "a start is out of range");
    }
  }
  return CheckShape(context, 0, cache);
}

int64_t StartOf(const RunContext& context, int64_t sample, int64_t size, int64_t count) {
  if (context.input_count < 3) return 0;
  const int64_t start = IndexAt(context.inputs[2], sample);
  if (context.State<State>().circular) {
    const int64_t rest = start % size;
    return rest < 0 ? rest + size : rest;
  }
  if (start < 0) return 0;
  return start > size - count ? size - count : start;
}

void Run(const RunContext& context) {
  RunWholeCopy(context);  // the output begins as a copy of the cache
  const int axis = static_cast<int>(context.State<State>().axis);
  const Shape& cache = context.inputs[0].shape;
  const Shape& update = context.inputs[1].shape;
  const int64_t size = cache[axis];
  const int64_t count = update[axis];
  const int64_t bytes = cache.Count(axis + 1, cache.rank) * static_cast<int64_t>(SizeOf(context.inputs[0].dtype));
  const int64_t lines_of_sample = cache.Count(1, axis);
  const char* from = static_cast<const char*>(context.inputs[1].data);
  char* to = static_cast<char*>(context.outputs[0].data);
  if (update.Count() == 0) return;
  context.For(cache.Count(0, axis), 1, [=, &context](int64_t begin, int64_t end, int) {
    for (int64_t line = begin; line < end; ++line) {
      const int64_t start = StartOf(context, line / lines_of_sample, size, count);
      const int64_t first = count < size - start ? count : size - start;  // the rest begins anew
      const char* source = from + line * count * bytes;
      char* target = to + line * size * bytes;
      memcpy(target + start * bytes, source, static_cast<size_t>(first * bytes));
      memcpy(target, source + first * bytes, static_cast<size_t>((count - first) * bytes));
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
