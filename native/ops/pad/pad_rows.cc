// Borders around a tensor: constant, reflected (without the outermost element), the outermost element repeated, or the
// tensor itself once more.
#include "native/kernel/loops/copy.h"
#include "native/kernel/math/convert.h"
#include "native/kernel/quantised/quantised.h"
#include "native/kernel/quantised/quantised_tensors.h"

namespace lathe {
namespace {

enum Mode { kConstant, kReflect, kEdge, kWrap };

struct State {
  int64_t before[kMaxRank];
  int64_t after[kMaxRank];
  int32_t mode;
  // The last axis with a border: what stands behind it is moved in one piece.
  int32_t row_axis;
  uint8_t value[16];  // one element, again and again
};

constexpr int64_t kVector = sizeof State::value;

// What stands for a real number where those of x are stored.
template <typename T>
void StoreValue(float steps, int32_t zero, State* state) {
  const T stored = Quantised<T>(steps, zero);
  memcpy(state->value, &stored, sizeof stored);
}

Code ReadValue(PrepareContext& context, State* state) {
  float value = 0.0f;
  LATHE_TRY(context.Float("value", &value));
  const Tensor& x = context.input(0);
  if (x.quant != nullptr) {
    Stored stored = {};
    LATHE_TRY(ReadStored(context, x, &stored));
    const auto store = x.dtype == DType::kS8    ? StoreValue<int8_t>
                       : x.dtype == DType::kU8  ? StoreValue<uint8_t>
                       : x.dtype == DType::kS16 ? StoreValue<int16_t>
                                                : StoreValue<uint16_t>;
    store(value / stored.scale, stored.zero, state);
    return Code::kOk;
  }
  WithTypeOf(context.input(0).dtype, [&](auto* element) {
    using T = typename Pointee<decltype(element)>::Type;
    const T converted = Convert<T>(value);
    memcpy(state->value, &converted, sizeof converted);
  });
  return Code::kOk;
}

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 1, 1, 1));
  LATHE_TRY(CheckSameTypes(context));
  const int rank = context.input(0).shape.rank;
  LATHE_TRY(CheckRank(context, context.output(0), rank, "its output"));
  LATHE_TRY(ReadInts(context, "before", rank, 0, kMaxExtent, state.before));
  LATHE_TRY(ReadInts(context, "after", rank, 0, kMaxExtent, state.after));
  int mode = 0;
  LATHE_TRY(ReadChoice(context, "mode", {"constant", "reflect", "edge", "wrap"}, &mode));
  state.mode = mode;
  for (int axis = 0; axis < rank; ++axis) {
    if (state.before[axis] + state.after[axis] > 0) state.row_axis = axis;
  }
  LATHE_TRY(ReadValue(context, &state));
  for (size_t i = SizeOf(context.input(0).dtype); i < sizeof state.value; ++i) {
    state.value[i] = state.value[i - SizeOf(context.input(0).dtype)];
  }
  return Code::kOk;
}

Code PlanRun(PlanContext& context) {
  const State& state = *static_cast<const State*>(context.state());
  Shape expected = context.input(0).shape;
  for (int axis = 0; axis < expected.rank; ++axis) {
    const int64_t border = state.before[axis] > state.after[axis] ? state.before[axis] : state.after[axis];
    const int64_t needed = border == 0 || state.mode == kConstant ? 0 : (state.mode == kReflect ? border + 1 : 1);
    if (expected.dims[axis] < needed) return context.Fail(Code::kBadModel, "its input is too small for the border");
    if (expected.dims[axis] > INT64_MAX - 2 * kMaxExtent) return context.Fail(Code::kUnsupported, "it is too large");
    expected.dims[axis] += state.before[axis] + state.after[axis];
  }
  return CheckShape(context, 0, expected);
}

// The input position that an output position takes its element from; -1: the constant.
inline int64_t Source(const State& state, int axis, int64_t position, int64_t size) {
  const int64_t inner = position - state.before[axis];
  if (inner >= 0 && inner < size) return inner;
  if (state.mode == kConstant) return -1;
  if (state.mode == kEdge) return inner < 0 ? 0 : size - 1;
  if (state.mode == kWrap) return inner % size < 0 ? inner % size + size : inner % size;
  return inner < 0 ? -inner : 2 * (size - 1) - inner;
}

template <int64_t part>
inline void FillPart(const State& state, int64_t bytes, char** to) {
  if ((bytes & part) == 0) return;
  memcpy(*to, state.value, part);
  *to += part;
}

// Writes the constant over some elements.
inline void FillElements(const State& state, char* to, int64_t bytes) {
  for (; bytes >= kVector; bytes -= kVector, to += kVector) memcpy(to, state.value, kVector);
  // What is left ends with a whole element, so that each part of it begins with one.
  FillPart<8>(state, bytes, &to);
  FillPart<4>(state, bytes, &to);
  FillPart<2>(state, bytes, &to);
  FillPart<1>(state, bytes, &to);
}

// A row: the elements of the last axis with a border, pieces of some bytes each.
struct Row {
  int64_t in;   // pieces
  int64_t out;  // pieces
  int64_t piece;
};

inline void FillRow(const State& state, const char* from, const Row& row, char* to) {
  if (from == nullptr) return FillElements(state, to, row.out * row.piece);
  const int axis = state.row_axis;
  const int64_t before = state.before[axis];
  CopyBytes(to + before * row.piece, from, row.in * row.piece);
  if (state.mode == kConstant) {
    FillElements(state, to, before * row.piece);
    return FillElements(state, to + (before + row.in) * row.piece, (row.out - before - row.in) * row.piece);
  }
  for (int64_t position = 0; position < row.out; ++position) {
    if (position == before) position += row.in;
    if (position >= row.out) return;
    const int64_t source = Source(state, axis, position, row.in);
    CopyBytes(to + position * row.piece, from + source * row.piece, row.piece);
  }
}

// Rows that stand one after the other, each with the constant behind it: what is written too much of that is the
// beginning of the next row, which comes later.
void FillBehind(const State& state, const char* from, int64_t row, int64_t behind, char* to, int64_t rows) {
  for (; rows > 1; --rows, from += row, to += row + behind) {
    CopyBytes(to, from, row);
    memcpy(to + row, state.value, kVector);
  }
  if (rows == 0) return;
  CopyBytes(to, from, row);
  FillElements(state, to + row, behind);
}

void Run(const RunContext& context) {
  if (context.inputs[0].shape.rank == 0) return RunWholeCopy(context);
  const State& state = context.State<State>();
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  const char* from = context.inputs[0].As<char>();
  char* to = context.outputs[0].As<char>();
  const int axis = state.row_axis;
  const int64_t element = static_cast<int64_t>(SizeOf(context.inputs[0].dtype));
  const Row row = {in[axis], out[axis], in.Count(axis + 1, in.rank) * element};
  const int64_t out_bytes = row.out * row.piece;
  if (out.Count() == 0) return;
  const int64_t grain = kCopyGrain / (out_bytes < kCopyGrain ? out_bytes : kCopyGrain);
  const int64_t row_bytes = row.in * row.piece, behind = out_bytes - row_bytes;
  bool only_behind = state.mode == kConstant && state.before[axis] == 0;
  for (int outer = 0; outer < axis; ++outer) only_behind = only_behind && state.before[outer] + state.after[outer] == 0;
  // The vector behind a row ends within the next one.
  if (only_behind && behind <= kVector && row_bytes >= kVector) {
    return context.For(out.Count(0, axis), grain, [&](int64_t begin, int64_t end, int) {
      FillBehind(state, from + begin * row_bytes, row_bytes, behind, to + begin * out_bytes, end - begin);
    });
  }
  context.For(out.Count(0, axis), grain, [=, &state, &in, &out](int64_t begin, int64_t end, int) {
    const int nearest = axis - 1;
    const int64_t lines = axis > 0 ? out[nearest] : 1;
    int64_t place = begin % lines;
    const char* base = nullptr;  // of the lines that stand here; null outside
    for (int64_t item = begin; item < end; ++item, place = place + 1 < lines ? place + 1 : 0) {
      if (item == begin || place == 0) {
        base = from;
        int64_t index = item / lines;
        for (int outer = nearest - 1; outer >= 0; --outer) {
          const int64_t source = Source(state, outer, index % out[outer], in[outer]);
          if (source < 0) base = nullptr;
          if (base != nullptr) base += source * in.Count(outer + 1, in.rank) * element;
          index /= out[outer];
        }
      }
      const int64_t line = axis > 0 ? Source(state, nearest, place, in[nearest]) : 0;
      const bool found = base != nullptr && line >= 0;
      FillRow(state, found ? base + line * row.in * row.piece : nullptr, row, to + item * out_bytes);
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
