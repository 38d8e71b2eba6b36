// Convolutions of 8-bit numbers: s32 sums of (x - x_zero) * (w - w_zero) over windows of x[N,H,W,C].
//
// Filters are packed as 16-bit differences, zero padded: [group][block of 8 outputs][tap][depth][8], with AVX2 in
// pairs of the depth, [depth / 2][8][2]; where every channel is a group with one output, [tap][channel]. The windows of
// four pixels are gathered as 16-bit differences too, [tap][channel], so that what lies outside the image is 0.
#ifndef LATHE_KERNEL_SPATIAL_INTEGER_CONV_H_
#define LATHE_KERNEL_SPATIAL_INTEGER_CONV_H_

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "native/kernel/quantised/quantised.h"
#include "native/kernel/spatial/window.h"

namespace lathe {
namespace {

constexpr int kConvPixels = 4;         // gathered at a time
constexpr int kConvOutputs = 8;        // summed side by side
constexpr int64_t kConvChunk = 16;     // pixels of one item of parallel work
constexpr int64_t kConvTogether = 16;  // channels, so that compilers make vectors of them
#if defined(__AVX2__)
constexpr int64_t kConvDepth = 2;  // multiplied by one instruction
#else
constexpr int64_t kConvDepth = 1;
#endif

// The positions of the inputs that all convolutions have.
struct ConvInputs {
  int x;
  int x_zero;
  int w;
  int w_zero;
};

struct IntegerConvState {
  Window window;
  ConvInputs inputs;
  int64_t groups;
  int64_t outputs;  // per group
  int64_t taps;
  int64_t depth;    // input channels per group
  int16_t* packed;  // null: the filters or their zero points are not constant

  bool depthwise() const { return depth == 1 && outputs == 1; }
  int64_t channels() const { return groups * depth; }
  int64_t blocks() const { return (outputs + kConvOutputs - 1) / kConvOutputs; }  // per group
  int64_t steps() const { return (depth + kConvDepth - 1) / kConvDepth; }
  int64_t block_numbers() const { return taps * steps() * kConvDepth * kConvOutputs; }
  int64_t packed_numbers() const { return depthwise() ? taps * groups : groups * blocks() * block_numbers(); }
  // Behind the last one is what a step may read too much.
  int64_t gathered_numbers() const { return kConvPixels * taps * channels() + kConvDepth - 1; }
};

struct IntegerConvPlan {
  int64_t threads;
};

// Adds up in wrapping arithmetic: a sum beyond s32 is the model's to avoid, but must not be undefined.
typedef uint32_t Sum;

template <typename W>
inline void PackFilters(const IntegerConvState& state, const W* filters, const Tensor& zeros, int16_t* to) {
  const int64_t step = zeros.shape.rank;  // 0: one zero point for all
  const int64_t inner = state.taps * state.depth;
  if (state.depthwise()) {
    for (int64_t tap = 0; tap < state.taps; ++tap) {
      for (int64_t c = 0; c < state.groups; ++c) {
        *to++ = static_cast<int16_t>(filters[c * state.taps + tap] - ZeroPointAt(zeros, c * step));
      }
    }
    return;
  }
  for (int64_t group = 0; group < state.groups; ++group) {
    for (int64_t first = 0; first < state.blocks() * kConvOutputs; first += kConvOutputs) {
      for (int64_t tap = 0; tap < state.taps; ++tap) {
        for (int64_t i = 0; i < state.steps() * kConvDepth * kConvOutputs; ++i, ++to) {
          const int64_t j = i / kConvDepth % kConvOutputs,
                        k = i / kConvDepth / kConvOutputs * kConvDepth + i % kConvDepth;
          const int64_t output = group * state.outputs + first + j;
          const bool padding = first + j >= state.outputs || k >= state.depth;
          *to = padding ? int16_t{0}
                        : static_cast<int16_t>(filters[output * inner + tap * state.depth + k] -
                                               ZeroPointAt(zeros, output * step));
        }
      }
    }
  }
}

inline void PackFilters(const IntegerConvState& state, const Tensor& filters, const Tensor& zeros, int16_t* to) {
  if (filters.dtype == DType::kS8) return PackFilters(state, filters.As<int8_t>(), zeros, to);
  PackFilters(state, filters.As<uint8_t>(), zeros, to);
}

inline Code PrepareIntegerConv(PrepareContext& context, const ConvInputs& inputs) {
  IntegerConvState& state = *static_cast<IntegerConvState*>(context.state());
  const Tensor& x = context.input(inputs.x);
  const Tensor& w = context.input(inputs.w);
  state.inputs = inputs;
  if (!IsByte(x.dtype) || !IsByte(w.dtype)) return context.Fail(Code::kUnsupported, "its operands are not bytes");
  LATHE_TRY(CheckRank(context, x, 4, "its input"));
  LATHE_TRY(CheckRank(context, w, 4, "its filter"));
  LATHE_TRY(CheckRank(context, context.output(0), 4, "its output"));
  LATHE_TRY(CheckScalar(context, inputs.x_zero, x.dtype));
  LATHE_TRY(CheckScalarOrRow(context, inputs.w_zero, w.dtype));
  LATHE_TRY(ReadWindow(context, &state.window));
  LATHE_TRY(ReadInt(context, "groups", 1, kMaxExtent, &state.groups));
  for (int axis = 0; axis < 4; ++axis) {
    if (w.shape[axis] < 1 || w.shape[axis] > kMaxExtent) return context.Fail(Code::kBadModel, "its filter is empty");
  }
  if (w.shape[0] % state.groups != 0) return context.Fail(Code::kBadModel, "groups do not divide the outputs");
  state.window.kernel[0] = w.shape[1];
  state.window.kernel[1] = w.shape[2];
  state.outputs = w.shape[0] / state.groups;
  state.taps = w.shape[1] * w.shape[2];
  state.depth = w.shape[3];
  if (w.shape.Count() > kMaxPackedElements || state.groups > kMaxPackedElements / state.taps / state.depth) {
    return context.Fail(Code::kUnsupported, "its filters are too large");
  }
  const Tensor& zeros = context.input(inputs.w_zero);
  if (zeros.shape.rank == 1 && zeros.shape[0] != w.shape[0]) {
    return context.Fail(Code::kBadModel, "the filter has another number of zero points than outputs");
  }
  if (!w.is_constant() || !zeros.is_constant()) return Code::kOk;
  LATHE_TRY(AllocateArray(context, state.packed_numbers(), &state.packed));
  PackFilters(state, w, zeros, state.packed);
  return Code::kOk;
}

// Scratch is [gathered windows of all threads][packed filters].
inline Code PlanIntegerConv(PlanContext& context) {
  const IntegerConvState& state = *static_cast<const IntegerConvState*>(context.state());
  LATHE_TRY(CheckImages(context));
  const Shape& x = context.input(state.inputs.x).shape;
  const Shape& w = context.input(state.inputs.w).shape;
  const int64_t outputs = state.groups * state.outputs;
  const Shape filter = {4, {outputs, state.window.kernel[0], state.window.kernel[1], state.depth}};
  if (w != filter) return context.Fail(Code::kUnsupported, "filters whose shape changes at run time");
  if (x[3] != state.channels()) return context.Fail(Code::kBadModel, "the filter has another number of channels");
  for (int axis = 1; axis < 3; ++axis) {
    if (x[axis] > kMaxExtent) return context.Fail(Code::kUnsupported, "an image is too large");
  }
  LATHE_TRY(CheckRowLength(context, state.inputs.w_zero, outputs));
  static_cast<IntegerConvPlan*>(context.plan())->threads = context.threads();
  Shape expected = {4, {x[0], 0, 0, outputs}};
  for (int axis = 0; axis < 2; ++axis) expected.dims[1 + axis] = WindowCount(state.window, axis, x[1 + axis], false);
  LATHE_TRY(CheckShape(context, 0, expected));
  const int64_t numbers =
      state.gathered_numbers() * context.threads() + (state.packed == nullptr ? state.packed_numbers() : 0);
  return RequestScratch(context, numbers * static_cast<int64_t>(sizeof(int16_t)));
}

#if defined(__AVX2__)

// Differences of kConvTogether bytes from the zero point.
template <typename X>
LATHE_INLINE void TakeChannels(const X* from, int32_t zero, int16_t* to) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  const __m256i wide = X(-1) < X(0) ? _mm256_cvtepi8_epi16(bytes) : _mm256_cvtepu8_epi16(bytes);
  const __m256i difference = _mm256_sub_epi16(wide, _mm256_set1_epi16(static_cast<int16_t>(zero)));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), difference);
}

// Depthwise sums of kConvTogether channels: two taps side by side.
LATHE_INLINE void SumChannels(const IntegerConvState& state, const int16_t* window, const int16_t* weights, Sum* to) {
  const auto load = [](const int16_t* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); };
  __m256i low = _mm256_setzero_si256(), high = low;
  const int64_t step = state.groups;
  for (int64_t tap = 0; tap < state.taps; tap += 2, window += 2 * step, weights += 2 * step) {
    const bool two = tap + 1 < state.taps;
    const __m256i x = load(window), w = load(weights);
    const __m256i next = two ? load(window + step) : _mm256_setzero_si256(), other = two ? load(weights + step) : next;
    low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_unpacklo_epi16(x, next), _mm256_unpacklo_epi16(w, other)));
    high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_unpackhi_epi16(x, next), _mm256_unpackhi_epi16(w, other)));
  }
  auto* vectors = reinterpret_cast<__m256i*>(to);  // unpacking works within halves
  _mm256_storeu_si256(vectors, _mm256_permute2x128_si256(low, high, 0x20));
  _mm256_storeu_si256(vectors + 1, _mm256_permute2x128_si256(low, high, 0x31));
}

#else

template <typename X>
inline void TakeChannels(const X* from, int32_t zero, int16_t* to) {
  for (int64_t k = 0; k < kConvTogether; ++k) to[k] = static_cast<int16_t>(from[k] - zero);
}

inline void SumChannels(const IntegerConvState& state, const int16_t* window, const int16_t* weights, Sum* to) {
  for (int64_t j = 0; j < kConvTogether; ++j) to[j] = 0;
  for (int64_t tap = 0; tap < state.taps; ++tap, window += state.groups, weights += state.groups) {
    for (int64_t j = 0; j < kConvTogether; ++j) to[j] += static_cast<Sum>(int32_t{window[j]} * weights[j]);
  }
}

#endif

// The window of one output pixel, as differences from the zero point.
template <typename X>
inline void GatherWindow(const IntegerConvState& state, const X* image, int32_t zero, const Shape& in, int64_t row,
                         int64_t column, int16_t* to) {
  const int64_t channels = in[3];
  for (int64_t i = 0; i < state.window.kernel[0]; ++i) {
    const int64_t y = row * state.window.strides[0] - state.window.before[0] + i * state.window.dilations[0];
    for (int64_t j = 0; j < state.window.kernel[1]; ++j, to += channels) {
      const int64_t x = column * state.window.strides[1] - state.window.before[1] + j * state.window.dilations[1];
      if (y < 0 || y >= in[1] || x < 0 || x >= in[2]) {
        memset(to, 0, static_cast<size_t>(channels) * sizeof *to);
        continue;
      }
      const X* from = image + (y * in[2] + x) * channels;
      int64_t c = 0;
      for (; c + kConvTogether <= channels; c += kConvTogether) TakeChannels(from + c, zero, to + c);
      for (; c < channels; ++c) to[c] = static_cast<int16_t>(from[c] - zero);
    }
  }
}

#if defined(__AVX2__)

// One block of outputs for kConvPixels windows, which lie `distance` numbers apart.
inline void SumBlock(const IntegerConvState& state, const int16_t* windows, int64_t distance, const int16_t* weights,
                     Sum (&sums)[kConvPixels][kConvOutputs]) {
  __m256i all[kConvPixels] = {};
  for (int64_t tap = 0; tap < state.taps; ++tap, windows += state.channels()) {
    for (int64_t k = 0; k < state.depth; k += kConvDepth, weights += kConvDepth * kConvOutputs) {
      const __m256i w = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights));
#pragma GCC unroll 4
      for (int p = 0; p < kConvPixels; ++p) {
        int32_t pair;
        memcpy(&pair, windows + p * distance + k, sizeof pair);
        all[p] = _mm256_add_epi32(all[p], _mm256_madd_epi16(_mm256_set1_epi32(pair), w));
      }
    }
  }
  for (int p = 0; p < kConvPixels; ++p) _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums[p]), all[p]);
}

#else

// One block of outputs for kConvPixels windows, which lie `distance` numbers apart.
inline void SumBlock(const IntegerConvState& state, const int16_t* windows, int64_t distance, const int16_t* weights,
                     Sum (&sums)[kConvPixels][kConvOutputs]) {
  memset(sums, 0, sizeof sums);
  for (int64_t tap = 0; tap < state.taps; ++tap, windows += state.channels()) {
    for (int64_t k = 0; k < state.depth; ++k, weights += kConvOutputs) {
      for (int p = 0; p < kConvPixels; ++p) {
        const int32_t value = windows[p * distance + k];
        for (int j = 0; j < kConvOutputs; ++j) sums[p][j] += static_cast<Sum>(value * weights[j]);
      }
    }
  }
}

#endif

// `store(pixel, channel, sums, count)` takes the sums of neighbouring channels of one output pixel.
template <typename Store>
inline void SumPixels(const IntegerConvState& state, const int16_t* packed, const int16_t* windows, int64_t pixel,
                      int count, const Store& store) {
  const int64_t distance = state.taps * state.channels();
  if (state.depthwise()) {
    for (int p = 0; p < count; ++p) {
      const int16_t* window = windows + p * distance;
      Sum sums[kConvTogether];
      int64_t first = 0;
      for (; first + kConvTogether <= state.groups; first += kConvTogether) {
        SumChannels(state, window + first, packed + first, sums);
        store(pixel + p, first, sums, kConvTogether);
      }
      for (; first < state.groups; ++first) {
        Sum sum = 0;
        for (int64_t at = first; at < distance; at += state.groups)
          sum += static_cast<Sum>(int32_t{window[at]} * packed[at]);
        store(pixel + p, first, &sum, 1);
      }
    }
    return;
  }
  for (int64_t group = 0; group < state.groups; ++group) {
    for (int64_t block = 0; block < state.blocks(); ++block, packed += state.block_numbers()) {
      Sum sums[kConvPixels][kConvOutputs];
      SumBlock(state, windows + group * state.depth, distance, packed, sums);
      const int64_t first = block * kConvOutputs;
      const int64_t width = state.outputs - first < kConvOutputs ? state.outputs - first : kConvOutputs;
      for (int p = 0; p < count; ++p) store(pixel + p, group * state.outputs + first, sums[p], width);
    }
  }
}

template <typename X, typename Store>
inline void RunIntegerConv(const RunContext& context, const X* image, const Store& store) {
  const IntegerConvState& state = context.State<IntegerConvState>();
  const Shape& in = context.inputs[state.inputs.x].shape;
  const Shape& out = context.outputs[0].shape;
  const int32_t zero = ZeroPointAt(context.inputs[state.inputs.x_zero], 0);
  int16_t* windows = static_cast<int16_t*>(context.scratch);
  const int16_t* packed = state.packed;
  if (packed == nullptr) {
    int16_t* to = windows + state.gathered_numbers() * context.Plan<IntegerConvPlan>().threads;
    PackFilters(state, context.inputs[state.inputs.w], context.inputs[state.inputs.w_zero], to);
    packed = to;
  }
  const int64_t pixels = out.Count(0, 3);
  context.For((pixels + kConvChunk - 1) / kConvChunk, 1, [&](int64_t begin, int64_t end, int thread) {
    int16_t* gathered = windows + thread * state.gathered_numbers();
    const int64_t last = end * kConvChunk < pixels ? end * kConvChunk : pixels;
    for (int64_t pixel = begin * kConvChunk; pixel < last; pixel += kConvPixels) {
      const int count = static_cast<int>(last - pixel < kConvPixels ? last - pixel : kConvPixels);
      for (int p = 0; p < kConvPixels; ++p) {
        const int64_t at = pixel + (p < count ? p : 0);  // idle places sum up a pixel that exists
        const int64_t line = at / out[2];
        const int64_t batch = line / out[1];
        GatherWindow(state, image + batch * in.Count(1, 4), zero, in, line - batch * out[1], at - line * out[2],
                     gathered + p * state.taps * state.channels());
      }
      SumPixels(state, packed, gathered, pixel, count, store);
    }
  });
}

template <typename Store>
inline void RunIntegerConv(const RunContext& context, const Store& store) {
  const Tensor& x = context.inputs[context.State<IntegerConvState>().inputs.x];
  if (context.outputs[0].shape.Count() == 0) return;
  if (x.dtype == DType::kS8) return RunIntegerConv(context, x.As<int8_t>(), store);
  RunIntegerConv(context, x.As<uint8_t>(), store);
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SPATIAL_INTEGER_CONV_H_
