// Depthwise convolution of stored bytes by vectors of the DSP: 128 channels, or several pixels of fewer channels, at a
// time. Four taps of the window stand side by side in a word, and one instruction multiplies and adds those of 32.
//
// Windows of 3 x 3: four lines of the image are woven into words first, with zero points around them. Where the
// vertical stride is 1, three bytes of a word are for one line of the output and three for the next.
//
// Others: the image is copied, with zero points around it, so that all windows are whole. Filters, starts and factors
// stand repeated: a vector may begin at any channel.
#include "native/kernel/quantised/requantise_hvx.h"
#include "native/kernel/simd/copy_bytes.h"
#include "native/ops/dwconv2d/dwconv2d_bytes.h"

namespace lathe {
namespace {

constexpr int kVector = 128;
constexpr int kMostTaps = 64;
constexpr int kSide = 3;      // of windows whose lines are woven
constexpr int kTogether = 2;  // pixels, or stretches of them, that share what is read of the filter
constexpr int kWordBytes = 4;
constexpr int64_t kMostWhole = 1 << 24;

template <typename T>
LATHE_INLINE T* AlignVector(T* place) {
  return reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(place) + kVector - 1) / kVector * kVector);
}

// A vector that stands at a multiple of its size: one instruction instead of three.
template <bool aligned>
LATHE_INLINE HVX_Vector LoadVector(const void* from) {
  if constexpr (aligned) return *static_cast<const HVX_Vector*>(from);
  return LoadAny(from);
}

struct DwRowsState {
  DwByteState node;        // stands first: PlanDwBytes reads it there
  int groups;              // of four taps
  int period;              // channels and a vector of them again
  bool woven;              // 3 x 3
  bool whole_sums;         // single precision has all of them whole
  const int32_t* weights;  // [group][period]: four taps of a channel; woven: [2 lines of the output][3 columns][period]
  const int32_t* starts;   // [period]
  const int32_t* shifts;   // [period], of factors
  const int32_t* mantissas;
};

struct DwRowsPlan {
  int height;  // of the copy
  int width;
  int threads;
  int64_t thread_bytes;
};

// Where the taps of a channel stand in `weights`, whose bytes are zeros.
void PlaceTap(const DwRowsState& state, int32_t* weights, int64_t tap, int64_t channel, int8_t w) {
  const auto at = [&](int64_t word) { return reinterpret_cast<int8_t*>(weights + word * state.period + channel); };
  if (!state.woven) {
    at(tap / 4)[tap % 4] = w;
    return;
  }
  for (int64_t line = 0; line < 2; ++line) at(line * kSide + tap % kSide)[line + tap / kSide] = w;
}

// At a multiple of a vector.
Code AllocateWords(PrepareContext& context, int64_t count, int32_t** words) {
  LATHE_TRY(AllocateArray(context, count + kHvxLanes, words));
  *words = AlignVector(*words);
  return Code::kOk;
}

__attribute__((cold)) Code RepeatChannels(PrepareContext& context, DwRowsState* state) {
  const DwByteState& node = state->node;
  const int64_t channels = node.channels, taps = node.window.kernel[0] * node.window.kernel[1];
  const int64_t period = state->period;
  int32_t *weights = nullptr, *starts = nullptr, *shifts = nullptr, *mantissas = nullptr;
  LATHE_TRY(AllocateWords(context, (state->woven ? 2 * kSide : state->groups) * period, &weights));
  LATHE_TRY(AllocateWords(context, period, &starts));
  LATHE_TRY(AllocateWords(context, period, &shifts));
  LATHE_TRY(AllocateWords(context, period, &mantissas));
  state->whole_sums = true;
  for (int64_t i = 0; i < period; ++i) {
    const int64_t channel = i % channels;
    uint32_t sum = 0;
    int64_t largest = 0;
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int8_t w = node.filter[tap * channels + channel];
      PlaceTap(*state, weights, tap, i, w);
      sum += static_cast<uint32_t>(w);
      largest += (w < 0 ? -w : w) * 128;
    }
    starts[i] =
        static_cast<int32_t>(static_cast<uint32_t>(node.bias[channel]) - static_cast<uint32_t>(node.x_zero) * sum);
    SplitFactor(node.factors[channel], shifts + i, mantissas + i);
    largest += starts[i] < 0 ? -int64_t{starts[i]} : int64_t{starts[i]};
    state->whole_sums = state->whole_sums && largest <= kMostWhole;
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
  const Window& window = state.node.window;
  state.woven = window.kernel[0] == kSide && window.kernel[1] == kSide && window.dilations[0] == 1;
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
  const int64_t line = width * out[3];
  plan = {static_cast<int>(height), static_cast<int>(width), context.threads(), 0};
  if (!state.woven) return RequestScratch(context, height * line + 2 * kVector);
  // What is read and written behind a line ends within two blocks of 128 words.
  plan.thread_bytes = (line * kWordBytes + 3 * kVector * kWordBytes + kVector - 1) / kVector * kVector;
  return RequestScratch(context, plan.threads * plan.thread_bytes + context.input(0).shape[2] * out[3] + 3 * kVector);
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

// The sums of 128 channels from `channel` on, in order. `x`: at the first tap.
LATHE_INLINE void SumTaps(const DwRowsJob& job, const int8_t* x, int channel, HVX_Vector (&sums)[kQuarters]) {
  const DwRowsState& state = job.state;
#pragma clang loop unroll(full)
  for (int n = 0; n < kQuarters; ++n) sums[n] = LoadAny(state.starts + channel + n * kHvxLanes);
  const int32_t* weights = state.weights + channel;
  const int* place = job.places;
  for (int group = 0; group < state.groups; ++group) {
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
  }
}

HvxStore StoreOf(const DwRowsState& state) {
  const Steps& steps = state.node.steps;
  return HvxStore(steps.zero, steps.low, steps.high, state.whole_sums ? kDoubtOfWhole : kDoubtOfOne);
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
LATHE_INLINE void RunVector(const DwRowsJob& job, const int8_t* x, int channel, int count, int8_t* to) {
  const DwRowsState& state = job.state;
  HVX_Vector sums[kQuarters], raised[kQuarters], least = HvxStore::NoDoubt();
  SumTaps(job, x, channel, sums);
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

void RunLine(const DwRowsJob& job, const int8_t* x, int pixels, int8_t* to) {
  const int channels = static_cast<int>(job.state.node.channels);
  const int stride = static_cast<int>(job.state.node.window.strides[1]);
  if (stride == 1) {
    int channel = 0;
    for (int at = 0; at < pixels * channels; at += kVector) {
      const int left = pixels * channels - at;
      RunVector(job, x + at, channel, left < kVector ? left : kVector, to + at);
      for (channel += kVector; channel >= channels;) channel -= channels;
    }
    return;
  }
  for (int pixel = 0; pixel < pixels; ++pixel, x += stride * channels, to += channels) {
    for (int channel = 0; channel < channels; channel += kVector) {
      const int left = channels - channel;
      RunVector(job, x + channel, channel, left < kVector ? left : kVector, to + channel);
    }
  }
}

// Of woven lines: `x` and `to` are those of two pixels, or stretches of pixels, that begin at the same channel.
struct WovenJob {
  const DwRowsState& state;
  const HvxStore& store;
  int columns[kSide];  // bytes from the first tap of a line
};

// As everywhere else.
__attribute__((noinline)) void MendWoven(const WovenJob& job, const HVX_Vector* raised, int vectors, int line,
                                         const int8_t* x, int channel, int count, int8_t* to) {
  const DwRowsState& state = job.state;
  const DwByteState& node = state.node;
  const int32_t* weights = state.weights + line * kSide * state.period + channel;
  job.store.ForDoubts(raised, vectors, 0, count, [&](int i) {
    int32_t sum = state.starts[channel + i];
    for (int column = 0; column < kSide; ++column) {
      const auto* w = reinterpret_cast<const int8_t*>(weights + column * state.period + i);
      for (int tap = 0; tap < kWordBytes; ++tap) sum += x[job.columns[column] + i * kWordBytes + tap] * w[tap];
    }
    to[i] = ByteOf(static_cast<float>(sum) * node.factors[(channel + i) % node.channels], node.steps);
  });
}

template <bool aligned, int lines, int quarters>
LATHE_INLINE void RunWoven(const WovenJob& job, const int8_t* const (&x)[kTogether], int channel, int count,
                           int8_t* const (&to)[lines][kTogether]) {
  const DwRowsState& state = job.state;
  const HvxStore store = job.store;  // what is stored does not change the copy
  const int period = state.period;
  HVX_Vector raised[lines][kTogether][quarters], least = HvxStore::NoDoubt();
#pragma clang loop unroll(full)
  for (int n = 0; n < quarters; ++n) {
    const int first = channel + n * kHvxLanes;
    HVX_Vector sums[lines][kTogether];
    const HVX_Vector start = LoadVector<aligned>(state.starts + first);
#pragma clang loop unroll(full)
    for (int line = 0; line < lines; ++line) sums[line][0] = sums[line][1] = start;
#pragma clang loop unroll(full)
    for (int column = 0; column < kSide; ++column) {
      HVX_Vector words[kTogether];
#pragma clang loop unroll(full)
      for (int i = 0; i < kTogether; ++i) words[i] = LoadVector<aligned>(x[i] + job.columns[column] + n * kVector);
#pragma clang loop unroll(full)
      for (int line = 0; line < lines; ++line) {
        const HVX_Vector w = LoadVector<aligned>(state.weights + (line * kSide + column) * period + first);
#pragma clang loop unroll(full)
        for (int i = 0; i < kTogether; ++i) sums[line][i] = Q6_Vw_vrmpyacc_VwVbVb(sums[line][i], words[i], w);
      }
    }
    HvxFactors factors;
    factors.shift = LoadVector<aligned>(state.shifts + first);
    factors.mantissa = LoadVector<aligned>(state.mantissas + first);
#pragma clang loop unroll(full)
    for (int line = 0; line < lines; ++line) {
#pragma clang loop unroll(full)
      for (int i = 0; i < kTogether; ++i) {
        raised[line][i][n] = store.Raise(factors.TimesSmall(sums[line][i]));
        least = HvxStore::Least(least, raised[line][i][n]);
      }
    }
  }
#pragma clang loop unroll(full)
  for (int line = 0; line < lines; ++line) {
#pragma clang loop unroll(full)
    for (int i = 0; i < kTogether; ++i) StoreBytes(store.Bytes(raised[line][i]), count, to[line][i]);
  }
  if (!store.InDoubt(least)) return;
#pragma clang loop unroll(full)
  for (int line = 0; line < lines; ++line) {
#pragma clang loop unroll(full)
    for (int i = 0; i < kTogether; ++i) {
      HVX_Vector numbers[quarters];
      for (int n = 0; n < quarters; ++n) numbers[n] = raised[line][i][n];
      MendWoven(job, numbers, quarters, line, x[i], channel, count, to[line][i]);
    }
  }
}

// Pixels that stand side by side in the words, too: one stretch. Its halves have the same channels; where their number
// is odd, they share a pixel.
template <bool aligned, int lines>
void RunWovenStretch(const WovenJob& job, const int8_t* words, int pixels, int8_t* to, int step) {
  const int channels = static_cast<int>(job.state.node.channels);
  const int half = (pixels + 1) / 2, count = half * channels, other = (pixels - half) * channels;
  int channel = 0;
  for (int at = 0; at < count; at += kVector) {
    const int8_t* const x[kTogether] = {words + at * kWordBytes, words + (at + other) * kWordBytes};
    int8_t* places[lines][kTogether];
#pragma clang loop unroll(full)
    for (int line = 0; line < lines; ++line) {
      places[line][0] = to + line * step + at;
      places[line][1] = places[line][0] + other;
    }
    RunWoven<aligned, lines, kQuarters>(job, x, channel, count - at < kVector ? count - at : kVector, places);
    for (channel += kVector; channel >= channels;) channel -= channels;
  }
}

template <bool aligned, int quarters>
void RunWovenPixels(const WovenJob& job, const int8_t* words, int pixels, int channel, int count, int8_t* to) {
  const int channels = static_cast<int>(job.state.node.channels);
  const int stride = static_cast<int>(job.state.node.window.strides[1]) * channels * kWordBytes;
  words += channel * kWordBytes;
  to += channel;
  for (int pixel = 0; pixel < pixels; pixel += kTogether) {
    const int second = pixel + 1 < pixels ? pixel + 1 : pixel;
    const int8_t* const x[kTogether] = {words + pixel * stride, words + second * stride};
    int8_t* const places[1][kTogether] = {{to + pixel * channels, to + second * channels}};
    RunWoven<aligned, 1, quarters>(job, x, channel, count, places);
  }
}

// One line of the output with gaps between its pixels.
template <bool aligned>
void RunWovenLine(const WovenJob& job, const int8_t* words, int pixels, int8_t* to) {
  const int channels = static_cast<int>(job.state.node.channels);
  for (int channel = 0; channel < channels; channel += kVector) {
    const int count = channels - channel < kVector ? channels - channel : kVector;
    const int quarters = (count + kHvxLanes - 1) / kHvxLanes;
    const auto run = quarters == 1   ? RunWovenPixels<aligned, 1>
                     : quarters == 2 ? RunWovenPixels<aligned, 2>
                     : quarters == 3 ? RunWovenPixels<aligned, 3>
                                     : RunWovenPixels<aligned, kQuarters>;
    run(job, words, pixels, channel, count, to);
  }
}

// One or two lines of the output.
template <bool aligned>
void RunWovenLines(const WovenJob& job, const int8_t* words, int pixels, int lines, int8_t* to) {
  if (job.state.node.window.strides[1] != 1) return RunWovenLine<aligned>(job, words, pixels, to);
  const int step = pixels * static_cast<int>(job.state.node.channels);
  const auto run = lines == 2 ? RunWovenStretch<aligned, 2> : RunWovenStretch<aligned, 1>;
  run(job, words, pixels, to, step);
}

// Four lines of an image as words, with what windows reach beside them. `outside`: a line of zero points.
struct Weaver {
  const int8_t* image;
  const int8_t* outside;
  int height;
  int whole;   // bytes of a line
  int line;    // words
  int left;    // words in front of the image
  int inside;  // words of the image
  int8_t zero;

  void Weave(int first, int8_t* to) const {
    const int8_t* rows[kWordBytes];
    for (int i = 0; i < kWordBytes; ++i)
      rows[i] = first + i >= 0 && first + i < height ? image + (first + i) * whole : outside;
    FillBytes(to, left * kWordBytes, zero);
    int8_t* words = to + left * kWordBytes;
    for (int at = 0; at < inside; at += kVector, words += kVector * kWordBytes) {
      const int count = inside - at < kVector ? inside - at : kVector;
      HVX_Vector x[kWordBytes];
#pragma clang loop unroll(full)
      for (int i = 0; i < kWordBytes; ++i)
        x[i] = count == kVector ? LoadAny(rows[i] + at) : LoadFew(rows[i] + at, count);
      const HVX_VectorPair upper = Q6_W_vshuff_VVR(x[1], x[0], -1), lower = Q6_W_vshuff_VVR(x[3], x[2], -1);
      const HVX_VectorPair low = Q6_W_vshuff_VVR(Q6_V_lo_W(lower), Q6_V_lo_W(upper), -2);
      const HVX_VectorPair high = Q6_W_vshuff_VVR(Q6_V_hi_W(lower), Q6_V_hi_W(upper), -2);
      StoreAny(Q6_V_lo_W(low), words);
      StoreAny(Q6_V_hi_W(low), words + kVector);
      StoreAny(Q6_V_lo_W(high), words + 2 * kVector);
      StoreAny(Q6_V_hi_W(high), words + 3 * kVector);
    }
    FillBytes(to + (left + inside) * kWordBytes, (line - left - inside) * kWordBytes, zero);
  }
};

void RunWovenImages(const RunContext& context) {
  const DwRowsState& state = context.State<DwRowsState>();
  const DwRowsPlan& plan = context.Plan<DwRowsPlan>();
  const Window& window = state.node.window;
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  const int channels = static_cast<int>(in[3]), line = plan.width * channels, pixels = static_cast<int>(out[2]);
  const HvxStore store = StoreOf(state);
  WovenJob job = {state, store, {}};
  for (int i = 0; i < kSide; ++i) job.columns[i] = i * static_cast<int>(window.dilations[1]) * channels * kWordBytes;
  auto* scratch = AlignVector(static_cast<int8_t*>(context.scratch));
  int8_t* outside = scratch + plan.threads * plan.thread_bytes;
  const int whole = static_cast<int>(in[2]) * channels, before = static_cast<int>(window.before[1]) * channels;
  const int left = before < line ? before : line, inside = whole < line - left ? whole : line - left;
  const int8_t zero = static_cast<int8_t>(state.node.x_zero);
  FillBytes(outside, whole, zero);
  const int lines = window.strides[0] == 1 && window.strides[1] == 1 ? 2 : 1;
  const int height = static_cast<int>(out[1]), steps = (height + lines - 1) / lines;
  context.For(out[0] * steps, 1, [&](int64_t begin, int64_t end, int thread) {
    int8_t* words = scratch + thread * plan.thread_bytes;
    for (int64_t index = begin; index < end; ++index) {
      const int batch = static_cast<int>(index) / steps, y = (static_cast<int>(index) - batch * steps) * lines;
      const int8_t* image = context.inputs[0].As<int8_t>() + batch * in.Count(1, 4);
      const Weaver weaver = {image, outside, static_cast<int>(in[1]), whole, line, left, inside, zero};
      weaver.Weave(y * static_cast<int>(window.strides[0]) - static_cast<int>(window.before[0]), words);
      int8_t* to = context.outputs[0].As<int8_t>() + (batch * height + y) * (pixels * channels);
      const int rows = lines == 2 && y + 1 < height ? 2 : 1;
      const auto run = channels % kHvxLanes == 0 ? RunWovenLines<true> : RunWovenLines<false>;
      run(job, words, pixels, rows, to);
    }
  });
}

void RunDwRows(const RunContext& context) {
  const DwRowsState& state = context.State<DwRowsState>();
  const DwRowsPlan& plan = context.Plan<DwRowsPlan>();
  const Window& window = state.node.window;
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  if (out.Count() == 0) return;
  if (state.woven) return RunWovenImages(context);
  const int channels = static_cast<int>(in[3]), line = plan.width * channels;
  const int columns = static_cast<int>(window.kernel[1]), taps = static_cast<int>(window.kernel[0]) * columns;
  const HvxStore store = StoreOf(state);
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
      for (int64_t y = begin; y < end; ++y)
        RunLine(job, copy + y * step, static_cast<int>(out[2]), to + y * out[2] * channels);
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
