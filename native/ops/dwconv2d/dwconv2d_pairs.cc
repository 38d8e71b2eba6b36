// Depthwise convolution of stored bytes with any window: sixteen channels of one output pixel at a time, two taps of
// the window with each instruction that multiplies. Pixels outside of the image are a row of zero points, so that all
// windows are whole.
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#elif !defined(__riscv_vector)
#include <arm_neon.h>
#endif
#include "native/kernel/simd/sixteen.h"
#include "native/ops/dwconv2d/dwconv2d_bytes.h"

namespace lathe {
namespace {

constexpr int64_t kMostTaps = 128;

#if defined(__AVX2__)

// Of a pair of taps and sixteen channels: [channel][tap].
struct PairWeights {
  using Weight = int16_t;
  __m256i v[2];

  LATHE_INLINE explicit PairWeights(const Weight* from) {
    for (int i = 0; i < 2; ++i) v[i] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from) + i);
  }
};

// Sums of sixteen channels.
struct PairSums {
  __m256i v[2];

  LATHE_INLINE void Start(const int32_t* starts) {
    for (int i = 0; i < 2; ++i) v[i] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(starts) + i);
  }
  LATHE_INLINE void Add(const int8_t* first, const int8_t* second, const PairWeights& weights) {
    const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(first));
    const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(second));
    const __m128i pairs[2] = {_mm_unpacklo_epi8(a, b), _mm_unpackhi_epi8(a, b)};
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      v[i] = _mm256_add_epi32(v[i], _mm256_madd_epi16(_mm256_cvtepi8_epi16(pairs[i]), weights.v[i]));
    }
  }
  LATHE_INLINE Sixteen Numbers() const { return {{_mm256_cvtepi32_ps(v[0]), _mm256_cvtepi32_ps(v[1])}}; }
};

inline int64_t WeightPlace(int64_t channel, int64_t tap) { return 2 * channel + tap; }

#elif defined(__wasm_simd128__)

// Of a pair of taps and sixteen channels: [channel][tap].
struct PairWeights {
  using Weight = int16_t;
  v128_t v[4];

  LATHE_INLINE explicit PairWeights(const Weight* from) {
    for (int i = 0; i < 4; ++i) v[i] = wasm_v128_load(from + 8 * i);
  }
};

// Sums of sixteen channels.
struct PairSums {
  v128_t v[4];

  LATHE_INLINE void Start(const int32_t* starts) {
    for (int i = 0; i < 4; ++i) v[i] = wasm_v128_load(starts + 4 * i);
  }
  LATHE_INLINE void Add(const int8_t* first, const int8_t* second, const PairWeights& weights) {
    const v128_t a = wasm_v128_load(first), b = wasm_v128_load(second);
    const v128_t low = wasm_i8x16_shuffle(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const v128_t high = wasm_i8x16_shuffle(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    const v128_t pairs[4] = {wasm_i16x8_extend_low_i8x16(low), wasm_i16x8_extend_high_i8x16(low),
                             wasm_i16x8_extend_low_i8x16(high), wasm_i16x8_extend_high_i8x16(high)};
    for (int i = 0; i < 4; ++i) v[i] = wasm_i32x4_add(v[i], wasm_i32x4_dot_i16x8(pairs[i], weights.v[i]));
  }
  LATHE_INLINE Sixteen Numbers() const {
    return Sixteen::Each([&](int i) { return wasm_f32x4_convert_i32x4(v[i]); });
  }
};

inline int64_t WeightPlace(int64_t channel, int64_t tap) { return 2 * channel + tap; }

#elif defined(__riscv_vector)

// Of a pair of taps and sixteen channels: [tap][channel].
struct PairWeights {
  using Weight = int16_t;
  typedef int16_t Words __attribute__((vector_size(32)));
  Words v[2];

  LATHE_INLINE explicit PairWeights(const Weight* from) { memcpy(v, from, sizeof v); }
};

// Sums of sixteen channels.
struct PairSums {
  Sixteen::Ints v;

  LATHE_INLINE void Start(const int32_t* starts) { memcpy(&v, starts, sizeof v); }
  LATHE_INLINE void Add(const int8_t* first, const int8_t* second, const PairWeights& weights) {
    v += Sixteen::Wide(first) * __builtin_convertvector(weights.v[0], Sixteen::Ints);
    v += Sixteen::Wide(second) * __builtin_convertvector(weights.v[1], Sixteen::Ints);
  }
  LATHE_INLINE Sixteen Numbers() const { return {__builtin_convertvector(v, Sixteen::Floats)}; }
};

inline int64_t WeightPlace(int64_t channel, int64_t tap) { return 16 * tap + channel; }

#else

// Of a pair of taps and sixteen channels: [tap][channel].
struct PairWeights {
  using Weight = int8_t;
  int8x16_t v[2];

  LATHE_INLINE explicit PairWeights(const Weight* from) {
    v[0] = vld1q_s8(from);
    v[1] = vld1q_s8(from + 16);
  }
};

// Sums of sixteen channels.
struct PairSums {
  int32x4_t v[4];

  LATHE_INLINE void Start(const int32_t* starts) {
    for (int i = 0; i < 4; ++i) v[i] = vld1q_s32(starts + 4 * i);
  }
  // Two products fit into 16 bits unless both weights are -128.
  LATHE_INLINE void Add(const int8_t* first, const int8_t* second, const PairWeights& weights) {
    const int8x16_t a = vld1q_s8(first), b = vld1q_s8(second);
    const int8x16_t w = weights.v[0], u = weights.v[1];
    const int16x8_t low = vmlal_s8(vmull_s8(vget_low_s8(a), vget_low_s8(w)), vget_low_s8(b), vget_low_s8(u));
    const int16x8_t high = vmlal_s8(vmull_s8(vget_high_s8(a), vget_high_s8(w)), vget_high_s8(b), vget_high_s8(u));
    v[0] = vaddw_s16(v[0], vget_low_s16(low));
    v[1] = vaddw_s16(v[1], vget_high_s16(low));
    v[2] = vaddw_s16(v[2], vget_low_s16(high));
    v[3] = vaddw_s16(v[3], vget_high_s16(high));
  }
  LATHE_INLINE Sixteen Numbers() const {
    int32_t sums[kStretch];
    for (int i = 0; i < 4; ++i) vst1q_s32(sums + 4 * i, v[i]);
    return Sixteen::OfInts(sums);
  }
};

inline int64_t WeightPlace(int64_t channel, int64_t tap) { return 16 * tap + channel; }

#endif

constexpr int64_t kPairWeights = 2 * kStretch;  // of a pair of taps

struct DwPairsState {
  DwByteState node;  // stands first: PlanDwBytes reads it there
  int64_t taps;
  int64_t pairs;
  int64_t step;                        // taps of a pair: 1 where two might be too large together
  const PairWeights::Weight* weights;  // [block of channels][pair][kPairWeights]
  const int32_t* starts;               // [block of channels][kStretch]
  const int8_t* outside;               // a pixel outside of the image
};

// The last block overlaps the one before where channels are no multiple of one.
inline int64_t Blocks(int64_t channels) { return (channels + kStretch - 1) / kStretch; }
inline int64_t FirstChannel(int64_t channels, int64_t block) {
  const int64_t first = block * kStretch;
  return first + kStretch <= channels ? first : channels - kStretch;
}

inline void PackPairs(const DwPairsState& state, int64_t block, PairWeights::Weight* weights, int32_t* starts) {
  const DwByteState& node = state.node;
  const int64_t first = FirstChannel(node.channels, block);
  for (int64_t c = 0; c < kStretch; ++c) {
    int32_t sum = 0;
    for (int64_t tap = 0; tap < state.taps; ++tap) {
      const int8_t w = node.filter[tap * node.channels + first + c];
      weights[tap / state.step * kPairWeights + WeightPlace(c, tap % state.step)] = w;
      sum += w;
    }
    starts[c] = static_cast<int32_t>(static_cast<uint32_t>(node.bias[first + c]) -
                                     static_cast<uint32_t>(node.x_zero) * static_cast<uint32_t>(sum));
  }
}

__attribute__((cold)) Code PrepareDwPairs(PrepareContext& context) {
  DwPairsState& state = *static_cast<DwPairsState*>(context.state());
  LATHE_TRY(ReadDwBytes(context, &state.node));
  const DwByteState& node = state.node;
  state.taps = node.window.kernel[0] * node.window.kernel[1];
  if (node.multiplier != 1 || node.channels < kStretch || state.taps > kMostTaps)
    return context.Fail(Code::kUnsupported, "this kernel has other windows");
  const bool large = sizeof(PairWeights::Weight) == 1 &&
                     memchr(node.filter, -128, static_cast<size_t>(state.taps * node.channels)) != nullptr;
  state.step = large ? 1 : 2;
  state.pairs = (state.taps + state.step - 1) / state.step;
  const int64_t blocks = Blocks(node.channels);
  PairWeights::Weight* weights = nullptr;
  int32_t* starts = nullptr;
  int8_t* outside = nullptr;
  LATHE_TRY(AllocateArray(context, blocks * state.pairs * kPairWeights, &weights));
  LATHE_TRY(AllocateArray(context, blocks * kStretch, &starts));
  LATHE_TRY(AllocateArray(context, node.channels, &outside));
  for (int64_t block = 0; block < blocks; ++block) {
    PackPairs(state, block, weights + block * state.pairs * kPairWeights, starts + block * kStretch);
  }
  memset(outside, node.x_zero, static_cast<size_t>(node.channels));
  state.weights = weights;
  state.starts = starts;
  state.outside = outside;
  return Code::kOk;
}

// The places of the taps of a window, pair after pair; a tap alone is paired with any pixel, whose weight is 0.
using TapPlaces = uintptr_t[2 * kMostTaps];

inline void PutPlace(const DwPairsState& state, int64_t tap, uintptr_t place, uintptr_t other, TapPlaces& places) {
  const bool alone = state.step == 1 || (tap % 2 == 0 && tap + 1 == state.taps);
  const int64_t at = state.step == 1 ? 2 * tap : tap;
  places[at] = place;
  if (alone) places[at + 1] = other;
}

// All channels of some output pixels, one after the other; the taps of the first one's window are at `base + places`,
// and from pixel to pixel there are `step` bytes.
template <int pixels>
void RunPixels(const DwPairsState& state, uintptr_t base, int64_t step, const TapPlaces& places, int8_t* to) {
  const DwByteState& node = state.node;
  const PairWeights::Weight* weights = state.weights;
  const int64_t blocks = Blocks(node.channels), pairs = state.pairs;
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t channel = FirstChannel(node.channels, block);
    const int8_t* const x = reinterpret_cast<const int8_t*>(base) + channel;
    PairSums sums[pixels];
    for (PairSums& sum : sums) sum.Start(state.starts + block * kStretch);
    for (int64_t pair = 0; pair < pairs; ++pair, weights += kPairWeights) {
      const int8_t* first = x + places[2 * pair];
      const int8_t* second = x + places[2 * pair + 1];
      const PairWeights w(weights);
#pragma GCC unroll 4
      for (int i = 0; i < pixels; ++i) sums[i].Add(first + i * step, second + i * step, w);
    }
    const Sixteen factors = Sixteen::OfFloats(node.factors + channel);
    for (int i = 0; i < pixels; ++i) (sums[i].Numbers() * factors).Store(node.steps, to + i * node.channels + channel);
  }
}

// A line of the output.
struct PairsLine {
  const DwPairsState* state;
  const int8_t* image;
  int64_t height;
  int64_t width;
  int64_t top;  // of the window

  bool Holds(int64_t left) const {
    const Window& window = state->node.window;
    return top >= 0 && top + (window.kernel[0] - 1) * window.dilations[0] < height && left >= 0 &&
           left + (window.kernel[1] - 1) * window.dilations[1] < width;
  }

  // Of a window that hangs over the border; the base is 0.
  void Locate(int64_t left, TapPlaces& places) const {
    const Window& window = state->node.window;
    int64_t tap = 0;
    const uintptr_t outside = reinterpret_cast<uintptr_t>(state->outside);
    for (int64_t i = 0; i < window.kernel[0]; ++i) {
      const int64_t y = top + i * window.dilations[0];
      const bool inside = y >= 0 && y < height;
      for (int64_t j = 0; j < window.kernel[1]; ++j) {
        const int64_t x = left + j * window.dilations[1];
        const bool there = inside && x >= 0 && x < width;
        const int8_t* pixel = there ? image + (y * width + x) * state->node.channels : state->outside;
        PutPlace(*state, tap++, reinterpret_cast<uintptr_t>(pixel), outside, places);
      }
    }
  }

  void Run(const TapPlaces& whole, int64_t outputs, int8_t* to) const {
    const Window& window = state->node.window;
    const int64_t channels = state->node.channels;
    TapPlaces own;
    const int64_t step = window.strides[1] * channels;
    for (int64_t pixel = 0, count = 1; pixel < outputs; pixel += count) {
      const int64_t left = pixel * window.strides[1] - window.before[1];
      const uintptr_t base =
          reinterpret_cast<uintptr_t>(image) + static_cast<uintptr_t>((top * width + left) * channels);
      count = 1;
      if (!Holds(left)) {
        Locate(left, own);
        RunPixels<1>(*state, 0, 0, own, to + pixel * channels);
      } else if (pixel + 1 < outputs && Holds(left + window.strides[1])) {
        RunPixels<2>(*state, base, step, whole, to + pixel * channels);
        count = 2;
      } else {
        RunPixels<1>(*state, base, step, whole, to + pixel * channels);
      }
    }
  }
};

void RunDwPairs(const RunContext& context) {
  const DwPairsState& state = context.State<DwPairsState>();
  const Window& window = state.node.window;
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  const int8_t* image = context.inputs[0].As<int8_t>();
  int8_t* output = context.outputs[0].As<int8_t>();
  TapPlaces whole;  // of windows inside of the image, from their first pixel on
  for (int64_t tap = 0; tap < state.taps; ++tap) {
    const int64_t y = tap / window.kernel[1] * window.dilations[0], x = tap % window.kernel[1] * window.dilations[1];
    PutPlace(state, tap, static_cast<uintptr_t>((y * in[2] + x) * in[3]), 0, whole);
  }
  context.For(out[0] * out[1], 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t number = begin; number < end; ++number) {
      const int64_t batch = number / out[1];
      const int64_t top = (number - batch * out[1]) * window.strides[0] - window.before[0];
      const PairsLine line = {&state, image + batch * in.Count(1, 4), in[1], in[2], top};
      line.Run(whole, out[2], output + number * out[2] * out[3]);
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::DwPairsState),
    .prepare = lathe::PrepareDwPairs,
    .plan = lathe::PlanDwBytes,
    .run = lathe::RunDwPairs,
};
