// Depthwise convolution with any window: one output pixel after the other.
#ifndef LATHE_OPS_DWCONV2D_PIXELS_H_
#define LATHE_OPS_DWCONV2D_PIXELS_H_

#include "native/kernel/simd/simd.h"
#include "native/ops/dwconv2d/dwconv2d_node.h"

namespace lathe {
namespace {

// One output pixel: the taps inside the image. Strides are in elements.
struct DwPatch {
  int64_t rows;
  int64_t columns;
  const Element* input;  // at the first tap inside
  int64_t input_row;
  int64_t input_column;
  const Element* filter;
  int64_t filter_row;
  int64_t filter_column;
};

template <int vectors>
inline void SumVectors(const DwPatch& patch, int64_t channel, const Element* bias, Element* output) {
  Vec sums[vectors];
  for (int v = 0; v < vectors; ++v) sums[v] = bias != nullptr ? Load(bias + channel + kLanes * v) : Fill(0.0f);
  for (int64_t i = 0; i < patch.rows; ++i) {
    const Element* x = patch.input + i * patch.input_row + channel;
    const Element* w = patch.filter + i * patch.filter_row + channel;
    for (int64_t j = 0; j < patch.columns; ++j, x += patch.input_column, w += patch.filter_column) {
      for (int v = 0; v < vectors; ++v) sums[v] = MulAdd(Load(x + kLanes * v), Load(w + kLanes * v), sums[v]);
    }
  }
  for (int v = 0; v < vectors; ++v) Store(output + channel + kLanes * v, sums[v]);
}

inline float SumOne(const DwPatch& patch, int64_t in_channel, int64_t channel, const Element* bias) {
  float sum = bias != nullptr ? bias[channel] : 0.0f;
  for (int64_t i = 0; i < patch.rows; ++i) {
    const Element* x = patch.input + i * patch.input_row + in_channel;
    const Element* w = patch.filter + i * patch.filter_row + channel;
    for (int64_t j = 0; j < patch.columns; ++j) sum += x[j * patch.input_column] * w[j * patch.filter_column];
  }
  return sum;
}

// `all`: also less channels than a vector has, and multipliers.
template <bool all>
Code PrepareDirect(PrepareContext& context) {
  DwState& state = *static_cast<DwState*>(context.state());
  LATHE_TRY(ReadDepthwise(context, &state));
  if (all || (state.multiplier == 1 && context.input(1).shape[2] >= kLanes)) return Code::kOk;
  return context.Fail(Code::kUnsupported, "this kernel takes more channels, and no multiplier");
}

template <bool all>
void RunPixel(const DwState& state, const DwPatch& patch, int64_t channels, const Element* bias, Element* output) {
  int64_t channel = 0;
  if (!all || (state.multiplier == 1 && channels >= kLanes)) {
    for (; channel + 4 * kLanes <= channels; channel += 4 * kLanes) SumVectors<4>(patch, channel, bias, output);
    for (; channel < channels; channel += kLanes) {
      if (channel > channels - kLanes) channel = channels - kLanes;  // overlaps the one before
      SumVectors<1>(patch, channel, bias, output);
    }
    return;
  }
  for (; channel < channels; ++channel) output[channel] = SumOne(patch, channel / state.multiplier, channel, bias);
}

// The kernel that takes all is in every library: the shorter of the two loops.
template <bool all, typename T>
void ActivateDirect(const Activation& activation, T* values, int64_t count) {
  if constexpr (all) {
    Activate(activation, values, count);
  } else {
    ActivateAll(activation, values, count);
  }
}

// What the lines of one run share.
struct DirectJob {
  const DwState& state;
  const Element* image;
  const Element* filter;
  const Element* bias;  // may be null
  const Shape& in;
  const Shape& out;
};

// Line `line`, counted through all images.
template <bool all>
void RunDirectLine(const DirectJob& job, int64_t line, Element* to) {
  const Window& window = job.state.window;
  const Shape& in = job.in;
  const Shape& out = job.out;
  const int64_t channels = out[3];
  const int64_t batch = line / out[1];
  const Taps vertical = TapsInside(window, 0, line - batch * out[1], in[1]);
  for (int64_t pixel = 0; pixel < out[2]; ++pixel) {
    const Taps level = TapsInside(window, 1, pixel, in[2]);
    const int64_t y = vertical.origin + vertical.first * window.dilations[0];
    const int64_t x = level.origin + level.first * window.dilations[1];
    DwPatch patch = {vertical.last - vertical.first, level.last - level.first, job.image, 0, 0, job.filter, 0, 0};
    if (patch.rows > 0 && patch.columns > 0) {
      patch.input = job.image + ((batch * in[1] + y) * in[2] + x) * in[3];
      patch.filter = job.filter + (vertical.first * window.kernel[1] + level.first) * channels;
    }
    patch.input_row = window.dilations[0] * in[2] * in[3];
    patch.input_column = window.dilations[1] * in[3];
    patch.filter_row = window.kernel[1] * channels;
    patch.filter_column = channels;
    RunPixel<all>(job.state, patch, channels, job.bias, to + pixel * channels);
  }
  ActivateDirect<all>(job.state.activation, to, out[2] * channels);
}

template <bool all>
void RunDirect(const RunContext& context) {
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  const Element* bias = context.input_count > 2 ? context.inputs[2].As<Element>() : nullptr;
  const DirectJob job = {
      context.State<DwState>(), context.inputs[0].As<Element>(), context.inputs[1].As<Element>(), bias, in, out};
  Element* output = context.outputs[0].As<Element>();
  context.For(out[0] * out[1], 1, [&](int64_t line, int64_t end, int) {
    for (; line < end; ++line) RunDirectLine<all>(job, line, output + line * out[2] * out[3]);
  });
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_DWCONV2D_PIXELS_H_
