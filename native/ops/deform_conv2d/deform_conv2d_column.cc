// Convolution with taps that offsets move: per output pixel, everything that its taps read becomes one column, which is
// multiplied by all filters. Offsets may be any float; they are limited before they become indices.
#include "native/kernel/check.h"
#include "native/kernel/math/math.h"
#include "native/kernel/spatial/window.h"
#include "native/runtime/kernel.h"

namespace lathe {
namespace {

struct State {
  Window window;
  int64_t groups;
  int64_t offset_groups;
};

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 3, 5, 1));
  LATHE_TRY(CheckAllTypes(context, DType::kF32));
  for (int i = 0; i < context.input_count(); ++i) {
    LATHE_TRY(CheckRank(context, context.input(i), i == 3 ? 1 : 4, "an input"));
  }
  LATHE_TRY(CheckRank(context, context.output(0), 4, "its output"));
  LATHE_TRY(ReadWindow(context, &state.window));
  LATHE_TRY(ReadInt(context, "groups", 1, kMaxExtent, &state.groups));
  LATHE_TRY(ReadInt(context, "offset_groups", 1, kMaxExtent, &state.offset_groups));
  const Shape& filter = context.input(1).shape;
  for (int axis = 0; axis < 4; ++axis) {
    if (filter[axis] < 1 || filter[axis] > kMaxExtent) return context.Fail(Code::kBadModel, "its filter is empty");
  }
  state.window.kernel[0] = filter[1];
  state.window.kernel[1] = filter[2];
  return Code::kOk;
}

Code PlanRun(PlanContext& context) {
  const State& state = *static_cast<const State*>(context.state());
  LATHE_TRY(CheckImages(context));
  const Shape& in = context.input(0).shape;
  const Shape& filter = context.input(1).shape;
  if (in[1] < 1 || in[2] < 1) return context.Fail(Code::kBadModel, "its input is empty");
  if (filter[1] != state.window.kernel[0] || filter[2] != state.window.kernel[1]) {
    return context.Fail(Code::kUnsupported, "filters whose shape changes at run time");
  }
  if (filter[3] * state.groups != in[3] || filter[0] % state.groups != 0 || in[3] % state.offset_groups != 0) {
    return context.Fail(Code::kBadModel, "groups do not divide the channels");
  }
  Shape expected = {4, {in[0], 0, 0, filter[0]}};
  for (int axis = 0; axis < 2; ++axis) expected.dims[1 + axis] = WindowCount(state.window, axis, in[1 + axis], false);
  LATHE_TRY(CheckShape(context, 0, expected));
  const int64_t taps = filter[1] * filter[2];
  Shape wanted = expected;
  wanted.dims[3] = state.offset_groups * taps * 2;
  if (context.input(2).shape != wanted) return context.Fail(Code::kBadModel, "its offsets have the wrong shape");
  wanted.dims[3] = state.offset_groups * taps;
  if (context.input_count() > 3 && context.input(3).shape[0] != filter[0]) {
    return context.Fail(Code::kBadModel, "the bias does not have one element per output channel");
  }
  if (context.input_count() > 4 && context.input(4).shape != wanted) {
    return context.Fail(Code::kBadModel, "its mask has the wrong shape");
  }
  return RequestScratch(context, taps * in[3] * context.threads() * static_cast<int64_t>(sizeof(float)));
}

inline float Limited(float x, float low, float high) { return x > low ? (x < high ? x : high) : low; }

// Adds what lies at a position to `to`: `count` channels from `image`, which points to the first of them.
void Read(const Shape& in, const float* image, float down, float across, float mask, int64_t count, float* to) {
  for (int64_t c = 0; c < count; ++c) to[c] = 0.0f;
  down = Limited(down, -2.0f, static_cast<float>(in[1]) + 1.0f);
  across = Limited(across, -2.0f, static_cast<float>(in[2]) + 1.0f);
  const float top = floorf(down);
  const float left = floorf(across);
  for (int i = 0; i < 2; ++i) {
    const int64_t y = static_cast<int64_t>(top) + i;
    if (y < 0 || y >= in[1]) continue;
    const float vertical = i == 0 ? 1.0f - (down - top) : down - top;
    for (int j = 0; j < 2; ++j) {
      const int64_t x = static_cast<int64_t>(left) + j;
      if (x < 0 || x >= in[2]) continue;
      const float weight = vertical * (j == 0 ? 1.0f - (across - left) : across - left) * mask;
      const float* from = image + (y * in[2] + x) * in[3];
      for (int64_t c = 0; c < count; ++c) to[c] += weight * from[c];
    }
  }
}

inline float Product(const float* a, const float* b, int64_t count) {
  constexpr int kLanes = 8;
  float lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) lanes[j] += a[i + j] * b[i + j];
  }
  float sum = 0.0f;
  for (; i < count; ++i) sum += a[i] * b[i];
  for (int j = 0; j < kLanes; ++j) sum += lanes[j];
  return sum;
}

// The column of one pixel: [tap][channel].
void FillColumn(const State& state, const Shape& in, const float* image, int64_t row, int64_t column,
                const float* offsets, const float* mask, float* to) {
  const Window& window = state.window;
  const int64_t taps = window.kernel[0] * window.kernel[1];
  const int64_t share = in[3] / state.offset_groups;
  for (int64_t tap = 0; tap < taps; ++tap) {
    const int64_t y = row * window.strides[0] - window.before[0] + tap / window.kernel[1] * window.dilations[0];
    const int64_t x = column * window.strides[1] - window.before[1] + tap % window.kernel[1] * window.dilations[1];
    for (int64_t group = 0; group < state.offset_groups; ++group) {
      const int64_t index = group * taps + tap;
      Read(in, image + group * share, static_cast<float>(y) + offsets[2 * index],
           static_cast<float>(x) + offsets[2 * index + 1], mask != nullptr ? mask[index] : 1.0f, share,
           to + tap * in[3] + group * share);
    }
  }
}

void Run(const RunContext& context) {
  const State& state = context.State<State>();
  const Shape& in = context.inputs[0].shape;
  const Shape& filter = context.inputs[1].shape;
  const Shape& out = context.outputs[0].shape;
  const float* image = context.inputs[0].As<float>();
  const float* weights = context.inputs[1].As<float>();
  const float* offsets = context.inputs[2].As<float>();
  const float* bias = context.input_count > 3 ? context.inputs[3].As<float>() : nullptr;
  const float* mask = context.input_count > 4 ? context.inputs[4].As<float>() : nullptr;
  float* output = context.outputs[0].As<float>();
  float* scratch = static_cast<float*>(context.scratch);
  const int64_t taps = filter[1] * filter[2];
  const int64_t per_group = filter[0] / state.groups;
  const int64_t moved = taps * state.offset_groups;
  context.For(out.Count(0, 3), 4, [=, &state, &in, &filter, &out](int64_t begin, int64_t end, int thread) {
    float* column = scratch + thread * taps * in[3];
    for (int64_t pixel = begin; pixel < end; ++pixel) {
      const int64_t line = pixel / out[2];
      FillColumn(state, in, image + line / out[1] * in.Count(1, 4), line % out[1], pixel % out[2],
                 offsets + pixel * moved * 2, mask != nullptr ? mask + pixel * moved : nullptr, column);
      for (int64_t o = 0; o < filter[0]; ++o) {
        const float* row = weights + o * taps * filter[3];
        const float* read = column + o / per_group * filter[3];
        float sum = bias != nullptr ? bias[o] : 0.0f;
        for (int64_t tap = 0; tap < taps; ++tap) sum += Product(row + tap * filter[3], read + tap * in[3], filter[3]);
        output[pixel * out[3] + o] = sum;
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
