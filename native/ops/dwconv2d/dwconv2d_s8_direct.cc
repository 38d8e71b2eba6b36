// Depthwise convolution of stored bytes with any window: one output pixel after the other, some channels side by side.
#include "native/kernel/simd/sixteen.h"
#include "native/ops/dwconv2d/dwconv2d_bytes.h"

namespace lathe {
namespace {

// One output pixel: the taps inside the image. Strides are in bytes.
struct DwBytePatch {
  int64_t rows;
  int64_t columns;
  const int8_t* input;  // at the first tap inside
  int64_t input_row;
  int64_t input_column;
  const int8_t* filter;
  int64_t filter_row;
  int64_t filter_column;
};

// kStretch channels that each read their own.
inline void RunDwStretch(const DwByteState& state, const DwBytePatch& patch, int64_t channel, int8_t* to) {
  int32_t sums[kStretch];
  memcpy(sums, state.bias + channel, sizeof sums);
  const int16_t zero = static_cast<int16_t>(state.x_zero);
  for (int64_t i = 0; i < patch.rows; ++i) {
    const int8_t* x = patch.input + i * patch.input_row + channel;
    const int8_t* w = patch.filter + i * patch.filter_row + channel;
    for (int64_t j = 0; j < patch.columns; ++j, x += patch.input_column, w += patch.filter_column) {
      for (int c = 0; c < kStretch; ++c) {
        const int16_t offset = static_cast<int16_t>(x[c] - zero);
        const int16_t weight = w[c];
        const uint32_t product = static_cast<uint32_t>(offset * weight);
        sums[c] = static_cast<int32_t>(static_cast<uint32_t>(sums[c]) + product);
      }
    }
  }
  (Sixteen::OfInts(sums) * Sixteen::OfFloats(state.factors + channel)).Store(state.steps, to);
}

inline int8_t RunDwOne(const DwByteState& state, const DwBytePatch& patch, int64_t channel) {
  uint32_t sum = static_cast<uint32_t>(state.bias[channel]);
  for (int64_t i = 0; i < patch.rows; ++i) {
    const int8_t* x = patch.input + i * patch.input_row + channel / state.multiplier;
    const int8_t* w = patch.filter + i * patch.filter_row + channel;
    for (int64_t j = 0; j < patch.columns; ++j, x += patch.input_column, w += patch.filter_column) {
      sum += static_cast<uint32_t>((*x - state.x_zero) * *w);
    }
  }
  return ByteOf(static_cast<float>(static_cast<int32_t>(sum)) * state.factors[channel], state.steps);
}

inline void RunDwBytePixel(const DwByteState& state, const DwBytePatch& patch, int8_t* to) {
  int64_t channel = 0;
  if (state.multiplier == 1 && state.channels >= kStretch) {
    for (; channel < state.channels; channel += kStretch) {
      if (channel > state.channels - kStretch) channel = state.channels - kStretch;  // overlaps the one before
      RunDwStretch(state, patch, channel, to + channel);
    }
    return;
  }
  for (; channel < state.channels; ++channel) to[channel] = RunDwOne(state, patch, channel);
}

__attribute__((cold)) Code PrepareDwBytesDirect(PrepareContext& context) {
  return ReadDwBytes(context, static_cast<DwByteState*>(context.state()));
}

void RunDwBytesDirect(const RunContext& context) {
  const DwByteState& state = context.State<DwByteState>();
  const Window& window = state.window;
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  const int8_t* image = context.inputs[0].As<int8_t>();
  int8_t* output = context.outputs[0].As<int8_t>();
  context.For(out[0] * out[1], 1, [&](int64_t line, int64_t end, int) {
    for (; line < end; ++line) {
      const int64_t batch = line / out[1];
      const Taps vertical = TapsInside(window, 0, line - batch * out[1], in[1]);
      const int64_t y = vertical.origin + vertical.first * window.dilations[0];
      for (int64_t pixel = 0; pixel < out[2]; ++pixel) {
        const Taps level = TapsInside(window, 1, pixel, in[2]);
        const int64_t x = level.origin + level.first * window.dilations[1];
        DwBytePatch patch = {vertical.last - vertical.first, level.last - level.first, image, 0, 0, state.filter, 0, 0};
        if (patch.rows > 0 && patch.columns > 0) {
          patch.input = image + ((batch * in[1] + y) * in[2] + x) * in[3];
          patch.filter = state.filter + (vertical.first * window.kernel[1] + level.first) * state.channels;
        }
        patch.input_row = window.dilations[0] * in[2] * in[3];
        patch.input_column = window.dilations[1] * in[3];
        patch.filter_row = window.kernel[1] * state.channels;
        patch.filter_column = state.channels;
        RunDwBytePixel(state, patch, output + (line * out[2] + pixel) * state.channels);
      }
    }
  });
}

constexpr KernelFunctions DwBytesDirectKernel() {
  return {
      .state_size = sizeof(DwByteState),
      .prepare = PrepareDwBytesDirect,
      .plan = PlanDwBytes,
      .run = RunDwBytesDirect,
  };
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::DwBytesDirectKernel();
