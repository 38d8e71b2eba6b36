// Regions of pictures, each element the largest of its share of the region.
#include "native/kernel/math/math.h"
#include "native/kernel/spatial/picture_regions.h"

namespace lathe {
namespace {

struct State {
  int64_t size[2];
  float scale;
};

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 2, 2, 1));
  LATHE_TRY(CheckAllTypes(context, DType::kF32));
  LATHE_TRY(CheckRank(context, context.input(0), 4, "its input"));
  LATHE_TRY(CheckRank(context, context.input(1), 2, "its regions"));
  LATHE_TRY(ReadInts(context, "size", 2, 1, kMaxExtent, state.size));
  return context.Float("scale", &state.scale);
}

Code PlanRun(PlanContext& context) {
  return CheckRegions(context, 5, static_cast<const State*>(context.state())->size);
}

// Half away from zero; wild numbers are limited, NaN is 0.
inline int64_t Rounded(float value) {
  if (value != value) return 0;
  const double limited = static_cast<double>(Between(value, -1e9f, 1e9f));
  return limited < 0.0 ? -static_cast<int64_t>(0.5 - limited) : static_cast<int64_t>(limited + 0.5);
}

// The elements [first, last) of a share along one axis.
struct Share {
  int64_t first;
  int64_t last;
};

inline Share ShareOf(const State& state, float start, float end, int64_t index, int64_t count, int64_t size) {
  const int64_t origin = Rounded(start * state.scale);
  const int64_t extent = Rounded(end * state.scale) - origin + 1;
  const int64_t width = extent > 1 ? extent : 1;
  const int64_t first = index * width / count + origin;
  const int64_t last = ((index + 1) * width + count - 1) / count + origin;
  return {first < 0 ? 0 : (first < size ? first : size), last < 0 ? 0 : (last < size ? last : size)};
}

void RunElement(const Share& rows, const Share& columns, const float* picture, int64_t width, int64_t channels,
                float* to) {
  const bool empty = rows.first >= rows.last || columns.first >= columns.last;
  for (int64_t c = 0; c < channels; ++c) to[c] = empty ? 0.0f : -HUGE_VALF;
  for (int64_t y = rows.first; y < rows.last; ++y) {
    for (int64_t x = columns.first; x < columns.last; ++x) {
      const float* from = picture + (y * width + x) * channels;
      for (int64_t c = 0; c < channels; ++c) to[c] = from[c] > to[c] || from[c] != from[c] ? from[c] : to[c];
    }
  }
}

void Run(const RunContext& context) {
  const State& state = context.State<State>();
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  const float* pictures = context.inputs[0].As<float>();
  const float* regions = context.inputs[1].As<float>();
  float* to = context.outputs[0].As<float>();
  context.For(out[0] * out[1], 1, [=, &state, &in, &out](int64_t begin, int64_t end, int) {
    for (int64_t line = begin; line < end; ++line) {
      const float* box = regions + line / out[1] * 5;
      const float index = box[0] == box[0] ? Between(box[0], 0.0f, static_cast<float>(in[0] - 1)) : 0.0f;
      const int64_t chosen = static_cast<int64_t>(index);
      const float* picture = pictures + (chosen < in[0] ? chosen : in[0] - 1) * in.Count(1, 4);
      const Share rows = ShareOf(state, box[2], box[4], line % out[1], out[1], in[1]);
      for (int64_t j = 0; j < out[2]; ++j) {
        const Share columns = ShareOf(state, box[1], box[3], j, out[2], in[2]);
        RunElement(rows, columns, picture, in[2], in[3], to + (line * out[2] + j) * out[3]);
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
