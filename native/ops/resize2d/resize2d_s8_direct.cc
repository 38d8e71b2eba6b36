// Images of bytes of another size.
#include "native/kernel/quantised/quantised_tensors.h"
#include "native/kernel/simd/simd.h"
#include "native/kernel/simd/sixteen.h"
#include "native/ops/resize2d/resize2d_pixels.h"

namespace lathe {
namespace {

struct ByteResizeState {
  State samples;  // stands first: PlanRun reads it there
  ByteConversion conversion;
  bool same;
};

inline Code PrepareByteResize(PrepareContext& context) {
  ByteResizeState& state = *static_cast<ByteResizeState*>(context.state());
  LATHE_TRY(Prepare<int8_t>(context));
  LATHE_TRY(ReadConversion(context, context.input(0), context.output(0), &state.conversion));
  state.same = state.conversion.factor == 1.0f && state.conversion.zero == state.conversion.steps.zero;
  return Code::kOk;
}

// Four pixels and how much of each: rows, then columns.
struct ByteCorners {
  const int8_t* pixels[4];
  float down;
  float across;
};

// A stretch of channels.
inline Sixteen MixBytes(const ByteConversion& conversion, const ByteCorners& corners, int64_t channel, int64_t count) {
  Sixteen steps[4];
  for (int corner = 0; corner < 4; ++corner) {
    const int8_t* from = corners.pixels[corner] + channel;
    int8_t bytes[kStretch];
    if (count < kStretch) LoadSome(from, count, bytes);
    steps[corner] = Sixteen::OfBytes(count < kStretch ? bytes : from, conversion.zero);
  }
  const Sixteen up = Sixteen::Fill(1.0f - corners.down), down = Sixteen::Fill(corners.down);
  const Sixteen near = Sixteen::Fill(1.0f - corners.across), far = Sixteen::Fill(corners.across);
  const Sixteen first = steps[0] * up + steps[1] * down, second = steps[2] * up + steps[3] * down;
  return (first * near + second * far) * Sixteen::Fill(conversion.factor);
}

inline void RunByteResizeLine(const ByteResizeState& state, const int8_t* top, const int8_t* bottom, float down,
                              const Sample* columns, const Shape& out, int8_t* to) {
  const int64_t channels = out[3];
  for (int64_t i = 0; i < out[2]; ++i, to += channels) {
    const int64_t left = columns[i].below * channels, right = columns[i].above * channels;
    if (!state.samples.linear && state.same) {
      memcpy(to, top + left, static_cast<size_t>(channels));
    } else if (!state.samples.linear) {
      ConvertBytes(state.conversion, top + left, to, channels);
    } else {
      const ByteCorners corners = {{top + left, bottom + left, top + right, bottom + right}, down, columns[i].weight};
      int64_t channel = 0;
      for (; channel + kStretch <= channels; channel += kStretch) {
        MixBytes(state.conversion, corners, channel, kStretch).Store(state.conversion.steps, to + channel);
      }
      const int64_t rest = channels - channel;
      if (rest > 0) {
        const Sixteen mixed = MixBytes(state.conversion, corners, channel, rest);
        StoreSome(mixed, state.conversion.steps, to + channel, rest);
      }
    }
  }
}

void RunByteResize(const RunContext& context) {
  const ByteResizeState& state = context.State<ByteResizeState>();
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  const int8_t* from = context.inputs[0].As<int8_t>();
  int8_t* to = context.outputs[0].As<int8_t>();
  Sample* rows = static_cast<Sample*>(context.scratch);
  Sample* columns = rows + out[1];
  if (out.Count() == 0) return;  // without channels there may be any number of pixels
  FillSamples(state.samples, 0, in[1], out[1], rows);
  FillSamples(state.samples, 1, in[2], out[2], columns);
  const int64_t line = in[2] * in[3];
  context.For(out[0] * out[1], 1, [=, &state, &in, &out](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      const Sample& row = rows[item % out[1]];
      const int8_t* image = from + item / out[1] * in[1] * line;
      RunByteResizeLine(state, image + row.below * line, image + row.above * line, row.weight, columns, out,
                        to + item * out[2] * out[3]);
    }
  });
}

constexpr KernelFunctions ByteResizeKernel() {
  return {
      .state_size = sizeof(ByteResizeState),
      .prepare = PrepareByteResize,
      .plan = PlanRun,
      .run = RunByteResize,
  };
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::ByteResizeKernel();
