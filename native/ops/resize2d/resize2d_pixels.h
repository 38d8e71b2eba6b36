// Images of another size, nearest or bilinear: of floats, doubles, or halves that are computed with as floats. Where
// each row and column comes from is computed once per run.
#ifndef LATHE_OPS_RESIZE2D_RESIZE2D_PIXELS_H_
#define LATHE_OPS_RESIZE2D_RESIZE2D_PIXELS_H_

#include "native/kernel/loops/typed.h"
#include "native/kernel/math/convert.h"
#include "native/kernel/math/math.h"
#include "native/kernel/simd/simd.h"
#include "native/kernel/spatial/window.h"

namespace lathe {
namespace {

enum Coordinates { kHalfPixel, kPytorchHalfPixel, kAsymmetric, kAlignCorners };
enum Rounding { kPreferFloor, kPreferCeil, kFloor, kCeil };

struct State {
  float scales[2];  // 0: that of the sizes
  bool linear;
  int32_t coordinates;
  int32_t rounding;
};

// The elements around a position along one axis, and the weight of the second.
struct Sample {
  int64_t below;
  int64_t above;
  float weight;
};

template <typename T>
Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 1, 1, 1));
  LATHE_TRY(CheckAllTypes(context, DTypeOf<T>::value));
  LATHE_TRY(CheckRank(context, context.input(0), 4, "its input"));
  LATHE_TRY(CheckRank(context, context.output(0), 4, "its output"));
  int mode = 0;
  int coordinates = 0;
  int rounding = 0;
  LATHE_TRY(ReadChoice(context, "mode", {"nearest", "linear"}, &mode));
  LATHE_TRY(ReadChoice(context, "coordinates", {"half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"},
                       &coordinates));
  LATHE_TRY(ReadChoice(context, "rounding", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}, &rounding));
  state.linear = mode == 1;
  state.coordinates = coordinates;
  state.rounding = rounding;
  Span<const float> scales;
  LATHE_TRY(context.Floats("scales", &scales));
  if (scales.size() != 2) return context.Fail(Code::kBadModel, "'scales' does not have two elements");
  for (int axis = 0; axis < 2; ++axis) {
    if (!(scales[axis] >= 0.0f && scales[axis] < HUGE_VALF))
      return context.Fail(Code::kBadModel, "a scale is negative or not finite");
    state.scales[axis] = scales[axis];
  }
  return Code::kOk;
}

inline Code PlanRun(PlanContext& context) {
  LATHE_TRY(CheckImages(context));
  const Shape& in = context.input(0).shape;
  const Shape& out = context.output(0).shape;
  if (in[0] != out[0] || in[3] != out[3]) return context.Fail(Code::kBadModel, "batch or channels change");
  if (in[1] < 1 || in[2] < 1) return context.Fail(Code::kBadModel, "its input is empty");
  Span<const int64_t> size;
  LATHE_TRY(context.Dims("size", &size));
  if (size.size() != 2 || size[0] != out[1] || size[1] != out[2]) {
    return context.Fail(Code::kBadModel, "its output does not have the size of the attribute");
  }
  return RequestScratch(context, (out[1] + out[2]) * static_cast<int64_t>(sizeof(Sample)));
}

inline float Position(const State& state, int axis, int64_t index, int64_t old_size, int64_t new_size) {
  const float i = static_cast<float>(index);
  const float of_sizes = static_cast<float>(new_size) / static_cast<float>(old_size);
  const float scale = state.scales[axis] > 0.0f ? state.scales[axis] : of_sizes;
  switch (state.coordinates) {
    case kAlignCorners:
      return new_size > 1 ? i * static_cast<float>(old_size - 1) / static_cast<float>(new_size - 1) : 0.0f;
    case kAsymmetric:
      return i / scale;
    default:
      if (state.coordinates == kPytorchHalfPixel && new_size == 1) return 0.0f;
      return (i + 0.5f) / scale - 0.5f;
  }
}

inline float Rounded(const State& state, float position) {
  switch (state.rounding) {
    case kPreferFloor:
      return ceilf(position - 0.5f);
    case kPreferCeil:
      return floorf(position + 0.5f);
    case kFloor:
      return floorf(position);
    default:
      return ceilf(position);
  }
}

inline void FillSamples(const State& state, int axis, int64_t old_size, int64_t new_size, Sample* samples) {
  const int64_t last = old_size - 1;
  for (int64_t i = 0; i < new_size; ++i) {
    const float raw = Position(state, axis, i, old_size, new_size);
    const float wanted = state.linear ? raw : Rounded(state, raw);
    const float end = static_cast<float>(last);
    const float position = wanted > 0.0f ? (wanted < end ? wanted : end) : 0.0f;
    const int64_t below = static_cast<int64_t>(position);
    samples[i].below = below < last ? below : last;  // a float may round the end up
    samples[i].above = below + 1 < last ? below + 1 : last;
    samples[i].weight = position - static_cast<float>(below);
  }
}

// Channels from four pixels; whole vectors of them where they are floats. Where the rest begins.
inline int64_t MixVectors(const float* const (&near)[2], const float* const (&far)[2], float down, float across,
                          int64_t channels, float* to) {
  int64_t c = 0;
  for (; c + kLanes <= channels; c += kLanes) {
    const Vec up = Fill(1.0f - down), low = Fill(down);
    const Vec first = Add(Mul(Load(near[0] + c), up), Mul(Load(near[1] + c), low));
    const Vec second = Add(Mul(Load(far[0] + c), up), Mul(Load(far[1] + c), low));
    Store(to + c, Add(Mul(first, Fill(1.0f - across)), Mul(second, Fill(across))));
  }
  return c;
}
inline int64_t MixVectors(const Half* const (&)[2], const Half* const (&)[2], float, float, int64_t, Half*) {
  return 0;
}
inline int64_t MixVectors(const double* const (&)[2], const double* const (&)[2], float, float, int64_t, double*) {
  return 0;
}

template <typename T>
void RunLine(const State& state, const T* top, const T* bottom, float down, const Sample* columns, const Shape& out,
             T* to) {
  using Number = decltype(Widen(T()));
  const int64_t channels = out[3];
  const Number low = down;
  for (int64_t i = 0; i < out[2]; ++i, to += channels) {
    const int64_t left = columns[i].below * channels;
    if (!state.linear) {
      memcpy(to, top + left, static_cast<size_t>(channels) * sizeof(T));
      continue;
    }
    const int64_t right = columns[i].above * channels;
    const float across = columns[i].weight;
    const Number beyond = across;
    const T* const near[] = {top + left, bottom + left};
    const T* const far[] = {top + right, bottom + right};
    for (int64_t c = MixVectors(near, far, down, across, channels, to); c < channels; ++c) {
      const Number first = Widen(near[0][c]) * (1 - low) + Widen(near[1][c]) * low;
      const Number second = Widen(far[0][c]) * (1 - low) + Widen(far[1][c]) * low;
      to[c] = Convert<T>(first * (1 - beyond) + second * beyond);
    }
  }
}

template <typename T>
void Run(const RunContext& context) {
  const State& state = context.State<State>();
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  const T* from = context.inputs[0].As<T>();
  T* to = context.outputs[0].As<T>();
  Sample* rows = static_cast<Sample*>(context.scratch);
  Sample* columns = rows + out[1];
  if (out.Count() == 0) return;  // without channels there may be any number of pixels
  FillSamples(state, 0, in[1], out[1], rows);
  FillSamples(state, 1, in[2], out[2], columns);
  const int64_t line = in[2] * in[3];
  context.For(out[0] * out[1], 1, [=, &state, &in, &out](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      const Sample& row = rows[item % out[1]];
      const T* image = from + item / out[1] * in[1] * line;
      RunLine(state, image + row.below * line, image + row.above * line, row.weight, columns, out,
              to + item * out[2] * out[3]);
    }
  });
}

template <typename T>
constexpr KernelFunctions ResizeKernel() {
  return {
      .state_size = sizeof(State),
      .prepare = Prepare<T>,
      .plan = PlanRun,
      .run = Run<T>,
  };
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_RESIZE2D_RESIZE2D_PIXELS_H_
