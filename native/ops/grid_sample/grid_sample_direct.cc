// A picture or volume, channels last, read at positions that the grid tells. Positions may be any float; everything is
// limited before it becomes an index.
#include "native/kernel/check.h"
#include "native/kernel/math/math.h"
#include "native/runtime/kernel.h"

namespace lathe {
namespace {

constexpr int kMaxAxes = 3;
constexpr int kMaxTaps = 4;

enum Mode { kNearest, kLinear, kCubic };
enum Padding { kZeros, kBorder, kReflection };

struct State {
  int32_t mode;
  int32_t padding;
  bool align_corners;
};

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 2, 2, 1));
  LATHE_TRY(CheckAllTypes(context, DType::kF32));
  const int rank = context.input(0).shape.rank;
  if (rank < 3 || rank > 2 + kMaxAxes) return context.Fail(Code::kBadModel, "its input has the wrong rank");
  LATHE_TRY(CheckRank(context, context.input(1), rank, "its grid"));
  int mode = 0;
  int padding = 0;
  LATHE_TRY(ReadChoice(context, "mode", {"nearest", "linear", "cubic"}, &mode));
  LATHE_TRY(ReadChoice(context, "padding", {"zeros", "border", "reflection"}, &padding));
  state.mode = mode;
  state.padding = padding;
  return ReadBool(context, "align_corners", &state.align_corners);
}

Code PlanRun(PlanContext& context) {
  const Shape& in = context.input(0).shape;
  const Shape& grid = context.input(1).shape;
  if (grid[-1] != in.rank - 2 || grid[0] != in[0]) return context.Fail(Code::kBadModel, "its grid does not fit");
  for (int axis = 1; axis < in.rank - 1; ++axis) {
    if (in[axis] < 1) return context.Fail(Code::kBadModel, "its input is empty");
    if (in[axis] > kMaxExtent) return context.Fail(Code::kUnsupported, "an image is too large");
  }
  Shape expected = grid;
  expected.dims[grid.rank - 1] = in[-1];
  return CheckShape(context, 0, expected);
}

// What one output element reads along one axis.
struct Taps {
  int count;
  int64_t places[kMaxTaps];
  float weights[kMaxTaps];
};

inline float Reflected(float position, int64_t size, bool align_corners) {
  const double low = align_corners ? 0.0 : -0.5;
  const double span = static_cast<double>(align_corners ? size - 1 : size);
  if (span <= 0.0) return 0.0f;
  double distance = static_cast<double>(position) - low;
  distance = distance < 0.0 ? -distance : distance;
  const double turns = floor(distance / span);
  const double rest = distance - turns * span;
  const bool even = floor(turns * 0.5) * 2.0 == turns;
  return static_cast<float>(low + (even ? rest : span - rest));
}

inline float Limited(float x, float low, float high) { return x < low ? low : (x > high ? high : x); }

inline float NearestEven(float x) {
  const float below = floorf(x);
  const float part = x - below;
  if (part != 0.5f) return part < 0.5f ? below : below + 1.0f;
  return floorf(below * 0.5f) * 2.0f == below ? below : below + 1.0f;
}

inline float Cubic(float distance) {
  constexpr float a = -0.75f;
  const float x = distance < 0.0f ? -distance : distance;
  if (x <= 1.0f) return ((a + 2.0f) * x - (a + 3.0f)) * x * x + 1.0f;
  return ((a * x - 5.0f * a) * x + 8.0f * a) * x - 4.0f * a;
}

inline void AddTap(const State& state, float place, float weight, int64_t size, Taps* taps) {
  const float last = static_cast<float>(size - 1);
  if (state.padding == kReflection) place = Reflected(place, size, state.align_corners);
  const bool inside = place >= 0.0f && place <= last;
  const int64_t index = static_cast<int64_t>(Limited(place, 0.0f, last));
  taps->places[taps->count] = index < size ? index : size - 1;
  taps->weights[taps->count] = state.padding == kZeros && !inside ? 0.0f : weight;
  ++taps->count;
}

void FindTaps(const State& state, float grid, int64_t size, Taps* taps) {
  const float wide = static_cast<float>(state.align_corners ? size - 1 : size);
  float position = (grid + 1.0f) * 0.5f * wide;
  if (!state.align_corners) position -= 0.5f;
  position = position == position ? Limited(position, -1e9f, 1e9f) : -1e9f;
  const float last = static_cast<float>(size - 1);
  if (state.padding == kBorder && state.mode != kCubic) {  // of which the taps are limited, one by one
    position = Limited(position, 0.0f, last);
  } else if (state.padding == kReflection) {
    position = Reflected(position, size, state.align_corners);
  } else {
    position = Limited(position, -4.0f, last + 4.0f);
  }
  taps->count = 0;
  if (state.mode == kNearest) return AddTap(state, NearestEven(position), 1.0f, size, taps);
  const float below = floorf(position);
  const float part = position - below;
  if (state.mode == kLinear) {
    AddTap(state, below, 1.0f - part, size, taps);
    return AddTap(state, below + 1.0f, part, size, taps);
  }
  for (int offset = -1; offset < 3; ++offset) {
    const float away = static_cast<float>(offset);
    AddTap(state, below + away, Cubic(part - away), size, taps);
  }
}

// Adds all taps of the axes to one output element; missing outer axes have one tap of weight 1.
void Gather(const Taps (&taps)[kMaxAxes], const int64_t (&sizes)[kMaxAxes], const float* image, int64_t channels,
            float* to) {
  for (int64_t c = 0; c < channels; ++c) to[c] = 0.0f;
  for (int i = 0; i < taps[0].count; ++i) {
    for (int j = 0; j < taps[1].count; ++j) {
      const float outer = taps[0].weights[i] * taps[1].weights[j];
      const int64_t line = taps[0].places[i] * sizes[1] + taps[1].places[j];
      for (int k = 0; k < taps[2].count; ++k) {
        const float weight = outer * taps[2].weights[k];
        if (weight == 0.0f) continue;
        const float* from = image + (line * sizes[2] + taps[2].places[k]) * channels;
        for (int64_t c = 0; c < channels; ++c) to[c] += weight * from[c];
      }
    }
  }
}

void Run(const RunContext& context) {
  const State& state = context.State<State>();
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  const float* image = context.inputs[0].As<float>();
  const float* grid = context.inputs[1].As<float>();
  float* to = context.outputs[0].As<float>();
  const int axes = in.rank - 2;
  const int64_t per_image = out.Count(1, out.rank - 1);
  const int64_t channels = in[-1];
  context.For(out[0] * per_image, 64, [=, &state, &in](int64_t begin, int64_t end, int) {
    Taps taps[kMaxAxes];
    int64_t sizes[kMaxAxes];
    for (int axis = 0; axis < kMaxAxes; ++axis) {
      taps[axis] = {1, {}, {1.0f}};
      sizes[axis] = 1;
    }
    for (int axis = 0; axis < axes; ++axis) sizes[kMaxAxes - axes + axis] = in[1 + axis];
    for (int64_t i = begin; i < end; ++i) {
      for (int axis = 0; axis < axes; ++axis) {
        FindTaps(state, grid[i * axes + axes - 1 - axis], in[1 + axis], &taps[kMaxAxes - axes + axis]);
      }
      Gather(taps, sizes, image + i / per_image * in.Count(1, in.rank), channels, to + i * channels);
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
