// Inputs one after the other along an axis.
#include "native/kernel/loops/copy.h"

namespace lathe {
namespace {

struct State {
  int64_t axis;
};

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 1, INT32_MAX, 1));
  LATHE_TRY(CheckSameTypes(context));
  const int rank = context.input(0).shape.rank;
  LATHE_TRY(ReadInt(context, "axis", 0, rank - 1, &state.axis));
  for (int i = 1; i < context.input_count(); ++i) LATHE_TRY(CheckRank(context, context.input(i), rank, "an input"));
  return Code::kOk;
}

Code PlanRun(PlanContext& context) {
  const int axis = static_cast<int>(static_cast<const State*>(context.state())->axis);
  Shape expected = context.input(0).shape;
  const int64_t inner = expected.Count(axis + 1, expected.rank);
  context.InputInOutput(0, 0);
  const int64_t room = context.output(0).shape[axis];
  int64_t sum = expected[axis];
  for (int i = 1; i < context.input_count(); ++i) {
    Shape shape = context.input(i).shape;
    const int64_t size = shape[axis];
    if (sum > room || size > room - sum) return context.Fail(Code::kBadModel, "its output is too short");
    context.InputInOutput(i, sum * inner);
    sum += size;
    shape.dims[axis] = expected.dims[axis];
    if (shape != expected) return context.Fail(Code::kBadModel, "its inputs differ beside the axis");
  }
  expected.dims[axis] = sum;
  return CheckShape(context, 0, expected);
}

// What one row of the output has of an input: so many stretches of bytes.
struct Share {
  const char* from;
  int64_t step;  // from stretch to stretch
  int64_t bytes;
  int64_t count;

  Share() = default;
  Share(const Tensor& input, int axis, int64_t element) : from(input.As<char>()) {
    const int last = input.shape.rank - 1;
    const bool apart = input.pitch != 0;
    count = apart ? input.shape.Count(axis, last) : 1;
    bytes = input.shape.Count(apart ? last : axis, last + 1) * element;
    step = apart ? input.pitch * element : bytes;
  }
};

// Row by row, so that the output is written from its beginning to its end. Operands that are in place already stay
// there.
void Run(const RunContext& context) {
  const int axis = static_cast<int>(context.State<State>().axis);
  const Shape& out = context.outputs[0].shape;
  const int64_t element = static_cast<int64_t>(SizeOf(context.outputs[0].dtype));
  const int64_t rows = out.Count(0, axis);
  const int64_t row_bytes = out.Count(axis, out.rank) * element;
  char* to = context.outputs[0].As<char>();
  if (row_bytes == 0) return;
  bool done = true;
  int64_t at = 0;
  for (int i = 0; i < context.input_count; ++i) {
    const Share share(context.inputs[i], axis, element);
    if (rows == 1 && share.count == 1) {
      CopyRows(context, share.from, share.bytes, to + at, share.bytes, 1, share.bytes);
    } else if (share.from != to + at) {
      done = false;
    }
    at += share.bytes * share.count;
  }
  if (done) return;
  const int64_t grain = kCopyGrain / (row_bytes < kCopyGrain ? row_bytes : kCopyGrain);
  context.For(rows, grain, [=, &context](int64_t begin, int64_t end, int) {
    constexpr int kFew = 8;
    Share few[kFew];  // that are not made again for each row
    for (int i = 0; i < kFew && i < context.input_count; ++i) few[i] = Share(context.inputs[i], axis, element);
    for (int64_t row = begin; row < end; ++row) {
      char* target = to + row * row_bytes;
      for (int i = 0; i < context.input_count; ++i) {
        const Share share = i < kFew ? few[i] : Share(context.inputs[i], axis, element);
        const char* from = share.from + row * share.count * share.step;
        for (int64_t j = 0; j < share.count; ++j, from += share.step, target += share.bytes) {
          if (from != target) CopyBytes(target, from, share.bytes);
        }
      }
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
