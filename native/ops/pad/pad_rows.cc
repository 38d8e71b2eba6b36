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
  uint8_t value[8];  // one element
};

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
  return ReadValue(context, &state);
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

// A row: the elements of the last axis with a border, `piece` elements each.
template <typename T>
void FillRow(const State& state, const T* from, int64_t size, int64_t out_size, int64_t piece, T* to) {
  T value;
  memcpy(&value, state.value, sizeof value);
  const auto fill = [value](T* first, int64_t count) {
    if (value == 0) {
      memset(first, 0, static_cast<size_t>(count) * sizeof(T));
    } else {
      for (int64_t i = 0; i < count; ++i) first[i] = value;
    }
  };
  if (from == nullptr) return fill(to, out_size * piece);
  const int axis = state.row_axis;
  const int64_t before = state.before[axis];
  memcpy(to + before * piece, from, static_cast<size_t>(size * piece) * sizeof(T));
  if (state.mode == kConstant) {
    fill(to, before * piece);
    return fill(to + (before + size) * piece, (out_size - before - size) * piece);
  }
  for (int64_t position = 0; position < out_size; ++position) {
    if (position == before) position += size;
    if (position >= out_size) return;
    const int64_t source = Source(state, axis, position, size);
    memcpy(to + position * piece, from + source * piece, static_cast<size_t>(piece) * sizeof(T));
  }
}

template <typename T>
void RunOf(const RunContext& context) {
  const State& state = context.State<State>();
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  const T* from = context.inputs[0].As<T>();
  T* to = context.outputs[0].As<T>();
  const int axis = state.row_axis;
  const int64_t piece = in.Count(axis + 1, in.rank);
  const int64_t row = out[axis] * piece;
  const int64_t size = in[axis] * piece;
  if (out.Count() == 0) return;
  const int64_t grain = kCopyGrain / (row < kCopyGrain ? row : kCopyGrain);
  context.For(out.Count(0, axis), grain, [=, &state, &in, &out](int64_t begin, int64_t end, int) {
    const int nearest = axis - 1;
    const int64_t lines = axis > 0 ? out[nearest] : 1;
    int64_t place = begin % lines;
    int64_t base = 0;
    bool inside = true;
    for (int64_t item = begin; item < end; ++item, place = place + 1 < lines ? place + 1 : 0) {
      if (item == begin || place == 0) {
        base = 0;
        inside = true;
        int64_t index = item / lines;
        for (int outer = nearest - 1; outer >= 0; --outer) {
          const int64_t source = Source(state, outer, index % out[outer], in[outer]);
          inside = inside && source >= 0;
          base += source * in.Count(outer + 1, in.rank);
          index /= out[outer];
        }
      }
      const int64_t line = axis > 0 ? Source(state, nearest, place, in[nearest]) : 0;
      const bool found = inside && line >= 0;
      FillRow(state, found ? from + base + line * size : nullptr, in[axis], out[axis], piece, to + item * row);
    }
  });
}

void Run(const RunContext& context) {
  if (context.inputs[0].shape.rank == 0) return RunWholeCopy(context);
  switch (SizeOf(context.inputs[0].dtype)) {
    case 1:
      return RunOf<uint8_t>(context);
    case 2:
      return RunOf<uint16_t>(context);
    case 4:
      return RunOf<uint32_t>(context);
    default:
      return RunOf<uint64_t>(context);
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
