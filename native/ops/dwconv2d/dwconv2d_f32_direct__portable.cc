// Depthwise convolution. Filters [KH, KW, C * multiplier] already have the channels last: nothing is packed.
#include "native/core/tiles.h"
#include "native/core/window.h"

namespace lathe {
namespace {

struct State {
  Window window;
  Activation activation;
  int64_t multiplier;
};

// One output pixel: the taps inside the image. Strides are in floats.
struct Patch {
  int64_t rows;
  int64_t columns;
  const float* input;  // at the first tap inside
  int64_t input_row;
  int64_t input_column;
  const float* filter;
  int64_t filter_row;
  int64_t filter_column;
};

template <int vectors>
inline void SumVectors(const Patch& patch, int64_t channel, const float* bias, float* output) {
  F4 sums[vectors];
  for (int v = 0; v < vectors; ++v) sums[v] = F4{};
  for (int64_t i = 0; i < patch.rows; ++i) {
    const float* x = patch.input + i * patch.input_row + channel;
    const float* w = patch.filter + i * patch.filter_row + channel;
    for (int64_t j = 0; j < patch.columns; ++j, x += patch.input_column, w += patch.filter_column) {
      for (int v = 0; v < vectors; ++v) sums[v] += Load4(x + 4 * v) * Load4(w + 4 * v);
    }
  }
  for (int v = 0; v < vectors; ++v) {
    if (bias != nullptr) sums[v] += Load4(bias + channel + 4 * v);
    Store4(output + channel + 4 * v, sums[v]);
  }
}

inline float SumOne(const Patch& patch, int64_t in_channel, int64_t channel, const float* bias) {
  float sum = 0.0f;
  for (int64_t i = 0; i < patch.rows; ++i) {
    const float* x = patch.input + i * patch.input_row + in_channel;
    const float* w = patch.filter + i * patch.filter_row + channel;
    for (int64_t j = 0; j < patch.columns; ++j) sum += x[j * patch.input_column] * w[j * patch.filter_column];
  }
  return bias != nullptr ? sum + bias[channel] : sum;
}

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 2, 3, 1));
  LATHE_TRY(CheckAllTypes(context, DType::kF32));
  LATHE_TRY(CheckRank(context, context.input(0), 4, "its input"));
  LATHE_TRY(CheckRank(context, context.input(1), 3, "its filter"));
  LATHE_TRY(CheckRank(context, context.output(0), 4, "its output"));
  LATHE_TRY(ReadWindow(context, &state.window));
  LATHE_TRY(ReadActivation(context, &state.activation));
  LATHE_TRY(ReadInt(context, "multiplier", 1, kMaxExtent, &state.multiplier));
  const Shape& filter = context.input(1).shape;
  for (int axis = 0; axis < 3; ++axis) {
    if (filter[axis] < 1 || filter[axis] > kMaxExtent) return context.Fail(Code::kBadModel, "its filter is empty");
  }
  state.window.kernel[0] = filter[0];
  state.window.kernel[1] = filter[1];
  if (context.input_count() == 3) LATHE_TRY(CheckRank(context, context.input(2), 1, "its bias"));
  return Code::kOk;
}

Code PlanRun(PlanContext& context) {
  const State& state = *static_cast<const State*>(context.state());
  LATHE_TRY(CheckImages(context));
  const Shape& in = context.input(0).shape;
  const Shape& filter = context.input(1).shape;
  if (filter[0] != state.window.kernel[0] || filter[1] != state.window.kernel[1]) {
    return context.Fail(Code::kUnsupported, "filters whose shape changes at run time");
  }
  if (in[3] > kMaxExtent || filter[2] != in[3] * state.multiplier) {
    return context.Fail(Code::kBadModel, "the filter has another number of channels");
  }
  if (context.input_count() == 3 && context.input(2).shape[0] != filter[2]) {
    return context.Fail(Code::kBadModel, "the bias does not have one element per output channel");
  }
  Shape expected = {4, {in[0], 0, 0, filter[2]}};
  for (int axis = 0; axis < 2; ++axis) expected.dims[1 + axis] = WindowCount(state.window, axis, in[1 + axis], false);
  return CheckShape(context, 0, expected);
}

void RunPixel(const State& state, const Patch& patch, int64_t channels, const float* bias, float* output) {
  int64_t channel = 0;
  if (state.multiplier == 1) {
    for (; channel + 16 <= channels; channel += 16) SumVectors<4>(patch, channel, bias, output);
    for (; channel + 4 <= channels; channel += 4) SumVectors<1>(patch, channel, bias, output);
  }
  for (; channel < channels; ++channel) output[channel] = SumOne(patch, channel / state.multiplier, channel, bias);
}

void Run(const RunContext& context) {
  const State& state = context.State<State>();
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  const float* image = context.inputs[0].As<float>();
  const float* filter = context.inputs[1].As<float>();
  const float* bias = context.input_count > 2 ? context.inputs[2].As<float>() : nullptr;
  float* output = context.outputs[0].As<float>();
  const int64_t channels = out[3];
  context.For(out[0] * out[1], 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t line = begin; line < end; ++line) {
      const int64_t batch = line / out[1];
      const Taps vertical = TapsInside(state.window, 0, line - batch * out[1], in[1]);
      float* to = output + line * out[2] * channels;
      for (int64_t pixel = 0; pixel < out[2]; ++pixel) {
        const Taps level = TapsInside(state.window, 1, pixel, in[2]);
        const int64_t y = vertical.origin + vertical.first * state.window.dilations[0];
        const int64_t x = level.origin + level.first * state.window.dilations[1];
        Patch patch = {vertical.last - vertical.first, level.last - level.first, image, 0, 0, filter, 0, 0};
        if (patch.rows > 0 && patch.columns > 0) {
          patch.input = image + ((batch * in[1] + y) * in[2] + x) * in[3];
          patch.filter = filter + (vertical.first * state.window.kernel[1] + level.first) * channels;
        }
        patch.input_row = state.window.dilations[0] * in[2] * in[3];
        patch.input_column = state.window.dilations[1] * in[3];
        patch.filter_row = state.window.kernel[1] * channels;
        patch.filter_column = channels;
        RunPixel(state, patch, channels, bias, to + pixel * channels);
      }
      Activate(state.activation, to, out[2] * channels);
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL(dwconv2d_f32_direct__portable) = {"dwconv2d_f32_direct__portable",
                                               "dwconv2d",
                                               sizeof(lathe::State),
                                               0,
                                               -1,
                                               lathe::Prepare,
                                               lathe::PlanRun,
                                               lathe::Run};
