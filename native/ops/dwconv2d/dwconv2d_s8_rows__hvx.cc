// Depthwise convolution of stored bytes by vectors of the DSP: 128 channels, or several pixels of fewer channels, at a
// time. Four taps of the window stand side by side in a word, and one instruction multiplies and adds those of 32.
//
// The image is copied first, with zero points around it, so that all windows are whole. Filters, starts and factors
// stand repeated: a vector may begin at any channel.
#include "native/kernel/quantised/requantise_hvx.h"
#include "native/kernel/simd/copy_bytes.h"
#include "native/ops/dwconv2d/dwconv2d_bytes.h"

namespace lathe {
namespace {

constexpr int kVector = 128;
constexpr int kQuarters = 4;  // vectors of sums for one of bytes
constexpr int kMostTaps = 64;
constexpr int kThreeByThree = 3;  // groups of four of nine taps

struct DwRowsState {
  DwByteState node;        // stands first: PlanDwBytes reads it there
  int groups;              // of four taps
  int period;              // channels and a vector of them again
  const int32_t* weights;  // [group][period]: four taps of a channel
  const int32_t* starts;   // [period]
  const int32_t* shifts;   // [period], of factors
  const int32_t* mantissas;
};

struct DwRowsPlan {
  int height;  // of the copy
  int width;
};

__attribute__((cold)) Code RepeatChannels(PrepareContext& context, DwRowsState* state) {
  const DwByteState& node = state->node;
  const int64_t channels = node.channels, taps = node.window.kernel[0] * node.window.kernel[1];
  const int64_t period = state->period;
  int32_t *weights = nullptr, *starts = nullptr, *shifts = nullptr, *mantissas = nullptr;
  LATHE_TRY(AllocateArray(context, state->groups * period, &weights));
  LATHE_TRY(AllocateArray(context, period, &starts));
  LATHE_TRY(AllocateArray(context, period, &shifts));
  LATHE_TRY(AllocateArray(context, period, &mantissas));
  for (int64_t i = 0; i < period; ++i) {
    const int64_t channel = i % channels;
    uint32_t sum = 0;
    int64_t largest = 0;
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int8_t w = node.filter[tap * channels + channel];
      reinterpret_cast<int8_t*>(weights + tap / 4 * period + i)[tap % 4] = w;
      sum += static_cast<uint32_t>(w);
      largest += (w < 0 ? -w : w) * 128;
    }
    starts[i] =
        static_cast<int32_t>(static_cast<uint32_t>(node.bias[channel]) - static_cast<uint32_t>(node.x_zero) * sum);
    SplitFactor(node.factors[channel], shifts + i, mantissas + i);
    largest += starts[i] < 0 ? -int64_t{starts[i]} : int64_t{starts[i]};
    if (largest << shifts[i] > INT32_MAX)
      return context.Fail(Code::kUnsupported, "its factors are too large for this kernel");
  }
  state->weights = weights;
  state->starts = starts;
  state->shifts = shifts;
  state->mantissas = mantissas;
  return Code::kOk;
}

__attribute__((cold)) Code PrepareDwRows(PrepareContext& context) {
  DwRowsState& state = *static_cast<DwRowsState*>(context.state());
  LATHE_TRY(ReadDwBytes(context, &state.node));
  const int64_t taps = state.node.window.kernel[0] * state.node.window.kernel[1];
  if (state.node.multiplier != 1 || taps > kMostTaps)
    return context.Fail(Code::kUnsupported, "this kernel has other windows");
  state.groups = static_cast<int>((taps + 3) / 4);
  state.period = static_cast<int>(state.node.channels) + kVector;
  return RepeatChannels(context, &state);
}

__attribute__((cold)) Code PlanDwRows(PlanContext& context) {
  LATHE_TRY(PlanDwBytes(context));
  const DwRowsState& state = *static_cast<const DwRowsState*>(context.state());
  DwRowsPlan& plan = *static_cast<DwRowsPlan*>(context.plan());
  const Window& window = state.node.window;
  const Shape& out = context.output(0).shape;
  if (out.Count() == 0) return Code::kOk;
  const int64_t height = (out[1] - 1) * window.strides[0] + (window.kernel[0] - 1) * window.dilations[0] + 1;
  const int64_t width = (out[2] - 1) * window.strides[1] + (window.kernel[1] - 1) * window.dilations[1] + 1;
  if (height > INT32_MAX / width || height * width > INT32_MAX / 2 / out[3])
    return context.Fail(Code::kUnsupported, "its image is too large");
  plan = {static_cast<int>(height), static_cast<int>(width)};
  return RequestScratch(context, height * width * out[3] + 2 * kVector);
}

// One image with what windows reach around it.
void CopyImage(const DwRowsState& state, const DwRowsPlan& plan, const Shape& in, const int8_t* image, int8_t* to) {
  const Window& window = state.node.window;
  const int channels = static_cast<int>(in[3]), line = plan.width * channels;
  const int before = static_cast<int>(window.before[1]) * channels;
  const int left = before < line ? before : line;
  const int whole = static_cast<int>(in[2]) * channels, inside = whole < line - left ? whole : line - left;
  const int8_t zero = static_cast<int8_t>(state.node.x_zero);
  for (int y = 0; y < plan.height; ++y, to += line) {
    const int64_t source = y - window.before[0];
    if (source < 0 || source >= in[1]) {
      FillBytes(to, line, zero);
      continue;
    }
    FillBytes(to, left, zero);
    CopyBytes(to + left, image + source * whole, inside);
    FillBytes(to + left + inside, line - left - inside, zero);
  }
}

struct DwRowsJob {
  const DwRowsState& state;
  const HvxStore& store;
  int taps;
  int places[kMostTaps + 3];  // of the taps, from the first one on; those of no tap repeat it, and weigh nothing
};

// The sums of 128 channels from `channel` on, in order. `x`: at the first tap. `groups` of taps, or 0 for any number.
template <int groups>
LATHE_INLINE void SumTaps(const DwRowsJob& job, const int8_t* x, int channel, HVX_Vector (&sums)[kQuarters]) {
  const DwRowsState& state = job.state;
#pragma clang loop unroll(full)
  for (int n = 0; n < kQuarters; ++n) sums[n] = LoadAny(state.starts + channel + n * kHvxLanes);
  const int32_t* weights = state.weights + channel;
  const int* place = job.places;
  const auto add = [&]() __attribute__((always_inline)) {
    // From four vectors of channels to [channel][tap].
    const HVX_VectorPair first = Q6_W_vshuff_VVR(LoadAny(x + place[1]), LoadAny(x + place[0]), -1);
    const HVX_VectorPair second = Q6_W_vshuff_VVR(LoadAny(x + place[3]), LoadAny(x + place[2]), -1);
    const HVX_VectorPair low = Q6_W_vshuff_VVR(Q6_V_lo_W(second), Q6_V_lo_W(first), -2);
    const HVX_VectorPair high = Q6_W_vshuff_VVR(Q6_V_hi_W(second), Q6_V_hi_W(first), -2);
    const HVX_Vector words[kQuarters] = {Q6_V_lo_W(low), Q6_V_hi_W(low), Q6_V_lo_W(high), Q6_V_hi_W(high)};
#pragma clang loop unroll(full)
    for (int n = 0; n < kQuarters; ++n)
      sums[n] = Q6_Vw_vrmpyacc_VwVbVb(sums[n], words[n], LoadAny(weights + n * kHvxLanes));
    weights += state.period;
    place += 4;
  };
  if constexpr (groups > 0) {
#pragma clang loop unroll(full)
    for (int group = 0; group < groups; ++group) add();
  } else {
    for (int group = 0; group < state.groups; ++group) add();
  }
}

// Those whose rounding is in doubt, as everywhere else.
__attribute__((noinline)) void MendRow(const DwRowsJob& job, const HVX_Vector (&sums)[kQuarters],
                                       const HVX_Vector (&raised)[kQuarters], int channel, int count, int8_t* to) {
  const DwByteState& node = job.state.node;
  const auto* numbers = reinterpret_cast<const int32_t*>(&sums[0]);
  job.store.ForDoubts(raised, kQuarters, 0, count, [&](int i) {
    const float factor = node.factors[(channel + i) % node.channels];
    to[i] = ByteOf(static_cast<float>(numbers[i]) * factor, node.steps);
  });
}

// `count` channels of the output from `channel` on: of one pixel, or of several that stand side by side.
template <int groups>
LATHE_INLINE void RunVector(const DwRowsJob& job, const int8_t* x, int channel, int count, int8_t* to) {
  const DwRowsState& state = job.state;
  HVX_Vector sums[kQuarters], raised[kQuarters], least = HvxStore::NoDoubt();
  SumTaps<groups>(job, x, channel, sums);
#pragma clang loop unroll(full)
  for (int n = 0; n < kQuarters; ++n) {
    HvxFactors factors;
    factors.Load(state.shifts + channel + n * kHvxLanes, state.mantissas + channel + n * kHvxLanes);
    raised[n] = job.store.Raise(factors.TimesSmall(sums[n]));
    least = HvxStore::Least(least, raised[n]);
  }
  const HVX_Vector bytes = job.store.Bytes(raised);
  if (count == kVector) {
    StoreAny(bytes, to);
  } else {
    StoreFew(bytes, count, to);
  }
  if (!job.store.InDoubt(least)) return;
  const HVX_Vector kept[kQuarters] = {sums[0], sums[1], sums[2], sums[3]};
  const HVX_Vector numbers[kQuarters] = {raised[0], raised[1], raised[2], raised[3]};
  MendRow(job, kept, numbers, channel, count, to);
}

template <int groups>
void RunLine(const DwRowsJob& job, const int8_t* x, int pixels, int8_t* to) {
  const int channels = static_cast<int>(job.state.node.channels);
  const int stride = static_cast<int>(job.state.node.window.strides[1]);
  if (stride == 1) {
    int channel = 0;
    for (int at = 0; at < pixels * channels; at += kVector) {
      const int left = pixels * channels - at;
      RunVector<groups>(job, x + at, channel, left < kVector ? left : kVector, to + at);
      for (channel += kVector; channel >= channels;) channel -= channels;
    }
    return;
  }
  for (int pixel = 0; pixel < pixels; ++pixel, x += stride * channels, to += channels) {
    for (int channel = 0; channel < channels; channel += kVector) {
      const int left = channels - channel;
      RunVector<groups>(job, x + channel, channel, left < kVector ? left : kVector, to + channel);
    }
  }
}

void RunDwRows(const RunContext& context) {
  const DwRowsState& state = context.State<DwRowsState>();
  const DwRowsPlan& plan = context.Plan<DwRowsPlan>();
  const Window& window = state.node.window;
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  if (out.Count() == 0) return;
  const int channels = static_cast<int>(in[3]), line = plan.width * channels;
  const int columns = static_cast<int>(window.kernel[1]), taps = static_cast<int>(window.kernel[0]) * columns;
  const HvxStore store(state.node.steps.zero, state.node.steps.low, state.node.steps.high);
  DwRowsJob job = {state, store, taps, {}};
  for (int tap = 0; tap < taps; ++tap) {
    job.places[tap] = tap / columns * static_cast<int>(window.dilations[0]) * line +
                      tap % columns * static_cast<int>(window.dilations[1]) * channels;
  }
  auto* copy = static_cast<int8_t*>(context.scratch);
  const int step = static_cast<int>(window.strides[0]) * line;
  for (int64_t batch = 0; batch < out[0]; ++batch) {
    CopyImage(state, plan, in, context.inputs[0].As<int8_t>() + batch * in.Count(1, 4), copy);
    int8_t* to = context.outputs[0].As<int8_t>() + batch * out.Count(1, 4);
    context.For(out[1], 1, [&](int64_t begin, int64_t end, int) {
      const auto run = state.groups == kThreeByThree ? RunLine<kThreeByThree> : RunLine<0>;
      for (int64_t y = begin; y < end; ++y)
        run(job, copy + y * step, static_cast<int>(out[2]), to + y * out[2] * channels);
    });
  }
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::DwRowsState),
    .plan_size = sizeof(lathe::DwRowsPlan),
    .prepare = lathe::PrepareDwRows,
    .plan = lathe::PlanDwRows,
    .run = lathe::RunDwRows,
};
