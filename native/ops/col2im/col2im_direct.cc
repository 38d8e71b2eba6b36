// The picture that overlapping blocks add up to. A channel of the picture is one thread's work: its blocks are added in
// the order of the columns, element of the block by element.
#include "native/kernel/check.h"

namespace lathe {
namespace {

constexpr int kMaxSpatial = kMaxRank - 2;

struct State {
  int32_t spatial;
  int64_t image[kMaxSpatial];
  int64_t block[kMaxSpatial];
  int64_t strides[kMaxSpatial];
  int64_t pads[2 * kMaxSpatial];
  int64_t dilations[kMaxSpatial];
  int64_t counts[kMaxSpatial];  // of blocks
  int64_t taps;                 // elements of a block
  int64_t columns;
};

// How many blocks lie along each axis, and how many there are.
Code CountBlocks(const PrepareContext& context, State* state) {
  state->taps = state->columns = 1;
  for (int i = 0; i < state->spatial; ++i) {
    if (state->block[i] - 1 > kMaxExtent / state->dilations[i])
      return context.Fail(Code::kBadModel, "its blocks are too large");
    const int64_t extent = (state->block[i] - 1) * state->dilations[i] + 1;
    const int64_t room = state->image[i] + state->pads[i] + state->pads[i + state->spatial] - extent;
    state->counts[i] = room < 0 ? 0 : room / state->strides[i] + 1;
    if (state->taps > kMaxExtent / state->block[i]) return context.Fail(Code::kBadModel, "its blocks are too large");
    state->taps *= state->block[i];
    if (state->counts[i] > 0 && state->columns > INT64_MAX / state->counts[i]) {
      return context.Fail(Code::kBadModel, "it has too many blocks");
    }
    state->columns *= state->counts[i];
  }
  return Code::kOk;
}

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 1, 1, 1));
  LATHE_TRY(CheckAllTypes(context, DType::kF32));
  LATHE_TRY(CheckRank(context, context.input(0), 3, "its input"));
  Span<const int64_t> image;
  LATHE_TRY(context.Ints("image", &image));
  if (image.size() < 1 || image.size() > kMaxSpatial)
    return context.Fail(Code::kBadModel, "its picture has too many axes");
  const int spatial = static_cast<int>(image.size());
  state.spatial = spatial;
  LATHE_TRY(ReadInts(context, "image", spatial, 1, kMaxExtent, state.image));
  LATHE_TRY(ReadInts(context, "block", spatial, 1, kMaxExtent, state.block));
  LATHE_TRY(ReadInts(context, "strides", spatial, 1, kMaxExtent, state.strides));
  LATHE_TRY(ReadInts(context, "pads", 2 * spatial, 0, kMaxExtent, state.pads));
  LATHE_TRY(ReadInts(context, "dilations", spatial, 1, kMaxExtent, state.dilations));
  return CountBlocks(context, &state);
}

Code PlanRun(PlanContext& context) {
  const State& state = *static_cast<const State*>(context.state());
  const Shape& in = context.input(0).shape;
  if (in[1] % state.taps != 0) return context.Fail(Code::kBadModel, "its columns do not hold whole blocks");
  if (in[2] != state.columns) return context.Fail(Code::kBadModel, "its columns do not fill the picture");
  Shape expected = {};
  expected.dims[expected.rank++] = in[0];
  expected.dims[expected.rank++] = in[1] / state.taps;
  for (int i = 0; i < state.spatial; ++i) expected.dims[expected.rank++] = state.image[i];
  return CheckShape(context, 0, expected);
}

// Adds the row of elements at one place of all blocks to a channel.
void AddTap(const State& state, const float* row, int64_t tap, float* channel) {
  int64_t offsets[kMaxSpatial];  // of the place in the block
  for (int i = state.spatial - 1; i >= 0; --i) {
    offsets[i] = tap % state.block[i] * state.dilations[i] - state.pads[i];
    tap /= state.block[i];
  }
  for (int64_t column = 0; column < state.columns; ++column) {
    int64_t rest = column;
    int64_t at = 0;
    int64_t pace = 1;
    bool inside = true;
    for (int i = state.spatial - 1; i >= 0; --i) {
      const int64_t place = rest % state.counts[i] * state.strides[i] + offsets[i];
      rest /= state.counts[i];
      inside = inside && place >= 0 && place < state.image[i];
      at += inside ? place * pace : 0;
      pace *= state.image[i];
    }
    if (inside) channel[at] += row[column];
  }
}

void Run(const RunContext& context) {
  const State& state = context.State<State>();
  const Shape& out = context.outputs[0].shape;
  const float* from = context.inputs[0].As<float>();
  float* to = context.outputs[0].As<float>();
  const int64_t area = out.Count(2, out.rank);
  context.For(out.Count(0, 2), 1, [=, &state](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      float* channel = to + item * area;
      memset(channel, 0, static_cast<size_t>(area) * sizeof(float));
      for (int64_t tap = 0; tap < state.taps; ++tap) {
        AddTap(state, from + (item * state.taps + tap) * state.columns, tap, channel);
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
