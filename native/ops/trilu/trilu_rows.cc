// The upper or lower triangle of matrices: of every row, a stretch is kept and the rest is zero.
#include "native/kernel/loops/copy.h"

namespace lathe {
namespace {

struct State {
  int64_t k;
  bool upper;
};

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 1, 1, 1));
  LATHE_TRY(CheckSameTypes(context));
  if (context.input(0).shape.rank < 2) return context.Fail(Code::kBadModel, "its input is no matrix");
  LATHE_TRY(ReadBool(context, "upper", &state.upper));
  return ReadInt(context, "k", INT32_MIN, INT32_MAX, &state.k);
}

Code PlanRun(PlanContext& context) { return CheckShape(context, 0, context.input(0).shape); }

inline int64_t Between(int64_t value, int64_t high) { return value < 0 ? 0 : (value > high ? high : value); }

void Run(const RunContext& context) {
  const State& state = context.State<State>();
  const Shape& shape = context.inputs[0].shape;
  const int64_t rows = shape[-2];
  const int64_t columns = shape[-1];
  const int64_t element = static_cast<int64_t>(SizeOf(context.inputs[0].dtype));
  const char* from = static_cast<const char*>(context.inputs[0].data);
  char* to = static_cast<char*>(context.outputs[0].data);
  if (shape.Count() == 0) return;
  const int64_t bytes = columns * element;
  const int64_t grain = kCopyGrain / (bytes < kCopyGrain ? bytes : kCopyGrain);
  context.For(shape.Count() / columns, grain, [=, &state](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t border = item % rows + state.k;  // column - row >= k: from here on; <= k: up to here
      const int64_t first = state.upper ? Between(border, columns) : 0;
      const int64_t last = state.upper ? columns : Between(border + 1, columns);
      char* row = to + item * bytes;
      memset(row, 0, static_cast<size_t>(first * element));
      memcpy(row + first * element, from + item * bytes + first * element,
             static_cast<size_t>((last - first) * element));
      memset(row + last * element, 0, static_cast<size_t>((columns - last) * element));
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
