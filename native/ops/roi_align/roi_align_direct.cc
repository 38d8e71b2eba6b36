// Regions of pictures, each element the mean (or the largest) of interpolated samples. Where the samples of an axis lie
// is the same for all channels and computed once per output element.
#include "native/kernel/math/math.h"
#include "native/kernel/spatial/picture_regions.h"

namespace lathe {
namespace {

constexpr int64_t kMostSamples = 256;

struct State {
  int64_t size[2];
  int64_t samples;
  float scale;
  bool max;
  bool half_pixel;
};

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 3, 3, 1));
  if (context.input(0).dtype != DType::kF32 || context.input(1).dtype != DType::kF32 ||
      context.input(2).dtype != DType::kS64 || context.output(0).dtype != DType::kF32) {
    return context.Fail(Code::kUnsupported, "this kernel has other types");
  }
  LATHE_TRY(CheckRank(context, context.input(0), 4, "its input"));
  LATHE_TRY(CheckRank(context, context.input(1), 2, "its regions"));
  LATHE_TRY(CheckRank(context, context.input(2), 1, "the pictures of its regions"));
  LATHE_TRY(ReadInts(context, "size", 2, 1, kMaxExtent, state.size));
  LATHE_TRY(ReadInt(context, "samples", 0, kMostSamples, &state.samples));
  LATHE_TRY(context.Float("scale", &state.scale));
  int mode = 0;
  LATHE_TRY(ReadChoice(context, "mode", {"mean", "max"}, &mode));
  state.max = mode == 1;
  return ReadBool(context, "half_pixel", &state.half_pixel);
}

Code PlanRun(PlanContext& context) {
  const State& state = *static_cast<const State*>(context.state());
  if (context.input(2).shape[0] != context.input(1).shape[0]) {
    return context.Fail(Code::kBadModel, "there are not as many pictures as regions");
  }
  return CheckRegions(context, 4, state.size);
}

// A region along one axis.
struct Stretch {
  float first;
  float step;  // width of an output element
  int64_t samples;
};

Stretch StretchOf(const State& state, float start, float end, int64_t count) {
  const float offset = state.half_pixel ? 0.5f : 0.0f;
  Stretch span;
  span.first = start * state.scale - offset;
  float width = end * state.scale - offset - span.first;
  if (!state.half_pixel && !(width > 1.0f)) width = 1.0f;
  span.step = width / static_cast<float>(count);
  const float wanted = Between(ceilf(span.step), 0.0f, static_cast<float>(kMostSamples));
  span.samples = state.samples > 0 ? state.samples : static_cast<int64_t>(wanted);
  return span;
}

// The two elements around a sample and the weight of the second; `low` is -1 where the sample counts as zero.
struct Pair {
  int64_t low;
  int64_t high;
  float part;
};

inline Pair Around(const Stretch& span, int64_t index, int64_t sample, int64_t size) {
  float at = span.first + static_cast<float>(index) * span.step +
             (static_cast<float>(sample) + 0.5f) * span.step / static_cast<float>(span.samples);
  if (!(at >= -1.0f && at <= static_cast<float>(size))) return {-1, -1, 0.0f};
  at = at > 0.0f ? at : 0.0f;
  const int64_t low = static_cast<int64_t>(at);
  if (low >= size - 1) return {size - 1, size - 1, 0.0f};
  return {low, low + 1, at - static_cast<float>(low)};
}

void AddSample(const State& state, const Pair& row, const Pair& column, const float* picture, int64_t width,
               int64_t channels, bool first, float* to) {
  const bool outside = row.low < 0 || column.low < 0;
  const float weights[4] = {(1.0f - row.part) * (1.0f - column.part), (1.0f - row.part) * column.part,
                            row.part * (1.0f - column.part), row.part * column.part};
  const int64_t places[4] = {row.low * width + column.low, row.low * width + column.high, row.high * width + column.low,
                             row.high * width + column.high};
  for (int64_t c = 0; c < channels; ++c) {
    float values[4] = {};
    for (int i = 0; i < 4 && !outside; ++i) values[i] = weights[i] * picture[places[i] * channels + c];
    if (!state.max) {
      to[c] += values[0] + values[1] + values[2] + values[3];
      continue;
    }
    float best = values[0];
    for (int i = 1; i < 4; ++i) best = values[i] > best ? values[i] : best;
    to[c] = first || best > to[c] ? best : to[c];
  }
}

void RunElement(const State& state, const Stretch& down, const Stretch& across, int64_t i, int64_t j, const Shape& in,
                const float* picture, float* to) {
  const int64_t channels = in[3];
  for (int64_t c = 0; c < channels; ++c) to[c] = 0.0f;
  for (int64_t y = 0; y < down.samples; ++y) {
    const Pair row = Around(down, i, y, in[1]);
    for (int64_t x = 0; x < across.samples; ++x) {
      AddSample(state, row, Around(across, j, x, in[2]), picture, in[2], channels, y + x == 0, to);
    }
  }
  const int64_t count = down.samples * across.samples;
  if (state.max || count <= 1) return;
  for (int64_t c = 0; c < channels; ++c) to[c] /= static_cast<float>(count);
}

void Run(const RunContext& context) {
  const State& state = context.State<State>();
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  const float* pictures = context.inputs[0].As<float>();
  const float* regions = context.inputs[1].As<float>();
  const int64_t* indices = context.inputs[2].As<int64_t>();
  float* to = context.outputs[0].As<float>();
  context.For(out[0] * out[1], 1, [=, &state, &in, &out](int64_t begin, int64_t end, int) {
    for (int64_t line = begin; line < end; ++line) {
      const int64_t region = line / out[1];
      const float* box = regions + region * 4;
      const Stretch across = StretchOf(state, box[0], box[2], out[2]);
      const Stretch down = StretchOf(state, box[1], box[3], out[1]);
      const int64_t wanted = indices[region] < 0 ? 0 : indices[region];
      const float* picture = pictures + (wanted < in[0] ? wanted : in[0] - 1) * in.Count(1, 4);
      for (int64_t j = 0; j < out[2]; ++j) {
        RunElement(state, down, across, line % out[1], j, in, picture, to + (line * out[2] + j) * out[3]);
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
