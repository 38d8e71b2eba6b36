// Windows of up to 7 x 7 over bytes: two lines of the output at a time, of 32 channels, or of sixteen and two pixels.
// The rows that both lines look at stand in pairs, as words, so that one instruction multiplies two taps of eight
// channels. A strip of columns is put into this form once, and read from there by all windows.
#include <immintrin.h>
#include "native/ops/dwconv2d/dwconv2d_bytes_256.h"

namespace lathe {
namespace {

constexpr int kMostRows = 10, kMostSide = 7;
constexpr int64_t kPairBytes = 128;     // of a column: two rows of 32 channels
constexpr int64_t kStripBytes = 16384;  // half of the nearest cache

struct DwStripsState {
  DwByteState node;     // stands first: PlanDwBytes reads it there
  int64_t used;         // pairs of rows, by each line
  int64_t skipped;      // by the second line, in front of these
  int64_t block_bytes;  // starts and factors, then quarters of the channels: weights of a column, pair and line
  const char* packed;   // block after block
  const int8_t* outside;

  int64_t pairs() const { return used + skipped; }
};

// Sixteen channels or less that are left, and those of a tensor with less than 32, go by two pixels at a time.
struct StripBlock {
  int64_t channel;
  bool two;

  static constexpr int64_t kHalf = Bytes256::kChannels / 2;
  static int64_t Each(int64_t channels) { return channels < Bytes256::kChannels ? kHalf : Bytes256::kChannels; }
  static int64_t Count(int64_t channels) { return (channels + Each(channels) - 1) / Each(channels); }

  StripBlock(int64_t channels, int64_t index) {
    const int64_t first = index * Each(channels), rest = channels - first;
    two = rest <= kHalf || channels < Bytes256::kChannels;
    const int64_t taken = two ? kHalf : Bytes256::kChannels;
    channel = rest < taken ? channels - taken : first;
  }
};

void PackStrip(const DwStripsState& state, const StripBlock& block, char* to) {
  const DwByteState& node = state.node;
  const int64_t height = node.window.kernel[0], width = node.window.kernel[1];
  int32_t* starts = reinterpret_cast<int32_t*>(to);
  float* factors = reinterpret_cast<float*>(starts + Bytes256::kChannels);
  int16_t* weights = reinterpret_cast<int16_t*>(factors + Bytes256::kChannels);
  const int64_t shift = node.window.strides[0] % 2;  // of the second line's rows in their pairs
  for (int64_t i = 0; i < Bytes256::kChannels; ++i) {
    const int64_t channel = block.channel + (block.two ? i % StripBlock::kHalf : i);
    const int64_t place = SumPlace(i, Bytes256::kChannels), quarter = place / 8;
    int32_t sum = 0;
    for (int64_t tap = 0; tap < height * width; ++tap) {
      const int8_t w = node.filter[tap * node.channels + channel];
      const int64_t row = tap / width, column = tap % width;
      for (int64_t line = 0; line < 2; ++line) {
        const int64_t at = row + line * shift;
        const int64_t pair = ((quarter * width + column) * state.used + at / 2) * 2 + line;
        weights[pair * 16 + place % 8 * 2 + at % 2] = w;
      }
      sum += w;
    }
    starts[place] = static_cast<int32_t>(static_cast<uint32_t>(node.bias[channel]) -
                                         static_cast<uint32_t>(node.x_zero) * static_cast<uint32_t>(sum));
    factors[place] = node.factors[channel];
  }
}

__attribute__((cold)) Code PrepareStrips(PrepareContext& context) {
  DwStripsState& state = *static_cast<DwStripsState*>(context.state());
  LATHE_TRY(ReadDwBytes(context, &state.node));
  const DwByteState& node = state.node;
  for (int axis = 0; axis < 2; ++axis) {
    if (node.window.kernel[axis] > kMostSide || node.window.strides[axis] > 2 || node.window.dilations[axis] != 1)
      return context.Fail(Code::kUnsupported, "this kernel has other windows");
  }
  if (node.multiplier != 1 || node.channels < StripBlock::kHalf)
    return context.Fail(Code::kUnsupported, "this kernel has other windows");
  const int64_t stride = node.window.strides[0];
  state.used = (node.window.kernel[0] + stride % 2 + 1) / 2;
  state.skipped = stride / 2;
  const int64_t vectors = 8 + kQuarters * node.window.kernel[1] * state.used * 2;
  state.block_bytes = vectors * static_cast<int64_t>(sizeof(__m256i));
  const int64_t blocks = StripBlock::Count(node.channels);
  char* packed = nullptr;
  int8_t* outside = nullptr;
  LATHE_TRY(AllocateArray(context, blocks * state.block_bytes, &packed));
  LATHE_TRY(AllocateArray(context, node.channels, &outside));
  for (int64_t i = 0; i < blocks; ++i) PackStrip(state, {node.channels, i}, packed + i * state.block_bytes);
  memset(outside, node.x_zero, static_cast<size_t>(node.channels));
  state.packed = packed;
  state.outside = outside;
  return Code::kOk;
}

// Two lines of the output, for a block of channels.
struct StripLines {
  const DwStripsState* state;
  const char* packed;
  const int8_t* rows[kMostRows];  // at the first column of the image
  int64_t steps[kMostRows];       // from column to column
  const int8_t* outside;
  int64_t width;    // of the image
  int64_t outputs;  // of a line, or of its half where a vector has two pixels
  int64_t apart;    // outputs between these; below 0: there is one
  int64_t output_step;
  int8_t* to[2];  // the second may be null

  const int8_t* At(int64_t row, int64_t column) const {
    return column >= 0 && column < width ? rows[row] + column * steps[row] : outside;
  }
};

LATHE_INLINE __m256i LoadHalves(const int8_t* first, const int8_t* second) {
  const auto load = [](const int8_t* from) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); };
  return _mm256_inserti128_si256(_mm256_castsi128_si256(load(first)), load(second), 1);
}

LATHE_INLINE void StoreHalves(int8_t* first, int8_t* second, __m256i x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(first), _mm256_castsi256_si128(x));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(second), _mm256_extracti128_si256(x, 1));
}

// Columns of the image, `first` and those behind it: [column][pair of rows][quarter of the channels]. Vectors take
// halves from two pixels, or from one where there is nothing between these.
template <bool two>
void FillStrip(const StripLines& lines, int64_t first, int64_t columns, char* strip) {
  const int64_t pairs = lines.state->pairs(), pitch = pairs * kPairBytes;
  const int64_t between = two ? lines.apart * lines.state->node.window.strides[1] : 0, own = two ? 0 : 16;
  for (int64_t pair = 0; pair < pairs; ++pair, strip += kPairBytes) {
    const int64_t up = 2 * pair, down = up + 1;
    const int64_t up_between = between * lines.steps[up] + own, down_between = between * lines.steps[down] + own;
    const int8_t *a = lines.rows[up] + first * lines.steps[up], *b = lines.rows[down] + first * lines.steps[down];
    char* to = strip;
    for (int64_t at = first; at < first + columns; ++at, to += pitch) {
      __m256i x, y;
      if (at >= 0 && at + between < lines.width) {
        x = LoadHalves(a, a + up_between);
        y = LoadHalves(b, b + down_between);
      } else {
        x = LoadHalves(lines.At(up, at), lines.At(up, at + between) + own);
        y = LoadHalves(lines.At(down, at), lines.At(down, at + between) + own);
      }
      a += lines.steps[up];
      b += lines.steps[down];
      const __m256i low = _mm256_unpacklo_epi8(x, y), high = _mm256_unpackhi_epi8(x, y);
      __m256i* const quarters = reinterpret_cast<__m256i*>(to);
      _mm256_store_si256(quarters, _mm256_srai_epi16(_mm256_unpacklo_epi8(low, low), 8));
      _mm256_store_si256(quarters + 1, _mm256_srai_epi16(_mm256_unpackhi_epi8(low, low), 8));
      _mm256_store_si256(quarters + 2, _mm256_srai_epi16(_mm256_unpacklo_epi8(high, high), 8));
      _mm256_store_si256(quarters + 3, _mm256_srai_epi16(_mm256_unpackhi_epi8(high, high), 8));
    }
  }
}

LATHE_INLINE __m256i LoadPair(const char* x) { return _mm256_load_si256(reinterpret_cast<const __m256i*>(x)); }

// `count` outputs of both lines, the first of which is `output`; `strip` is its first column. Where the lines read the
// `same` pairs, those of all columns stand one after the other.
template <int count, bool same>
__attribute__((noinline)) void RunOutputs(const StripLines& lines, const char* strip, int64_t output) {
  const DwStripsState& state = *lines.state;
  const Steps& steps = state.node.steps;
  const int64_t pitch = state.pairs() * kPairBytes, step = state.node.window.strides[1] * pitch;
  const int64_t columns = state.node.window.kernel[1], skipped = state.skipped * kPairBytes;
  const int64_t outer = same ? 1 : columns, inner = same ? columns * state.used : state.used;
  const __m256i* starts = reinterpret_cast<const __m256i*>(lines.packed);
  const __m256i* weights = starts + 2 * kQuarters;
  __m256i done[2][count][kQuarters];
  for (int quarter = 0; quarter < kQuarters; ++quarter, strip += sizeof(__m256i)) {
    __m256i first[count], second[count];
#pragma GCC unroll 4
    for (int i = 0; i < count; ++i) first[i] = second[i] = _mm256_loadu_si256(starts + quarter);
    const char* column = strip;
    for (int64_t j = 0; j < outer; ++j, column += pitch) {
      const char* x = column;
      for (int64_t pair = 0; pair < inner; ++pair, x += kPairBytes, weights += 2) {
        const __m256i w = _mm256_loadu_si256(weights), u = _mm256_loadu_si256(weights + 1);
#pragma GCC unroll 4
        for (int i = 0; i < count; ++i) {
          const __m256i a = LoadPair(x + i * step), b = same ? a : LoadPair(x + skipped + i * step);
          first[i] = _mm256_add_epi32(first[i], _mm256_madd_epi16(a, w));
          second[i] = _mm256_add_epi32(second[i], _mm256_madd_epi16(b, u));
        }
      }
    }
    const float* factors = reinterpret_cast<const float*>(starts + kQuarters + quarter);
#pragma GCC unroll 4
    for (int i = 0; i < count; ++i) {
      done[0][i][quarter] = Bytes256::Scaled(first[i], factors, steps.high);
      done[1][i][quarter] = Bytes256::Scaled(second[i], factors, steps.high);
    }
  }
  const int8_t low = ByteOf(steps.low, steps);
  for (int line = 0; line < 2 && lines.to[line] != nullptr; ++line) {
    int8_t* to = lines.to[line] + output * lines.output_step;
    for (int i = 0; i < count; ++i, to += lines.output_step) {
      const __m256i bytes = Bytes256::Pack(done[line][i], steps.zero, low, 0);
      int8_t* second = lines.apart < 0 ? to + 16 : to + lines.apart * lines.output_step;
      StoreHalves(to, second, bytes);
    }
  }
}

void RunStripLines(const StripLines& lines) {
  constexpr int kTogether = 4;
  const DwStripsState& state = *lines.state;
  const Window& window = state.node.window;
  const int64_t pitch = state.pairs() * kPairBytes, stride = window.strides[1], side = window.kernel[1];
  const int64_t most = (kStripBytes / pitch - side) / stride + 1;
  const bool same = state.skipped == 0;
  const auto many = same ? RunOutputs<kTogether, true> : RunOutputs<kTogether, false>;
  const auto fill = lines.apart < 0 ? FillStrip<false> : FillStrip<true>;
  const auto single = same ? RunOutputs<1, true> : RunOutputs<1, false>;
  alignas(__m256i) char strip[kStripBytes];
  for (int64_t output = 0; output < lines.outputs; output += most) {
    const int64_t left = lines.outputs - output, count = left < most ? left : most;
    fill(lines, output * stride - window.before[1], (count - 1) * stride + side, strip);
    // The last ones overlap those before.
    for (int64_t i = 0; i < count && count >= kTogether; i += kTogether) {
      const int64_t at = i + kTogether <= count ? i : count - kTogether;
      many(lines, strip + at * stride * pitch, output + at);
    }
    for (int64_t i = 0; i < count && count < kTogether; ++i) single(lines, strip + i * stride * pitch, output + i);
  }
}

// What stands at lines `line` and `line + 1` of an image's output.
StripLines LinesAt(const DwStripsState& state, const RunContext& context, int64_t batch, int64_t line) {
  const Window& window = state.node.window;
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  StripLines lines = {};
  lines.state = &state;
  lines.outside = state.outside;
  lines.width = in[2];
  lines.outputs = out[2];
  lines.apart = -1;
  lines.output_step = out[3];
  lines.to[0] = context.outputs[0].As<int8_t>() + (batch * out[1] + line) * out[2] * out[3];
  lines.to[1] = line + 1 < out[1] ? lines.to[0] + out[2] * out[3] : nullptr;
  const int8_t* image = context.inputs[0].As<int8_t>() + batch * in.Count(1, 4);
  const int64_t top = line * window.strides[0] - window.before[0];
  for (int64_t row = 0; row < 2 * state.pairs(); ++row) {
    const bool inside = top + row >= 0 && top + row < in[1];
    lines.rows[row] = inside ? image + (top + row) * in[2] * in[3] : state.outside;
    lines.steps[row] = inside ? in[3] : 0;
  }
  return lines;
}

void RunStrips(const RunContext& context) {
  const DwStripsState& state = context.State<DwStripsState>();
  const Shape& out = context.outputs[0].shape;
  if (out.Count() == 0) return;
  const int64_t blocks = StripBlock::Count(out[3]), pairs = (out[1] + 1) / 2;
  context.For(out[0] * pairs * blocks, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t number = item / blocks, index = item % blocks;
      StripLines lines = LinesAt(state, context, number / pairs, number % pairs * 2);
      const StripBlock block(out[3], index);
      lines.packed = state.packed + index * state.block_bytes;
      for (const int8_t*& row : lines.rows) row += row == nullptr ? 0 : block.channel;
      lines.outside += block.channel;
      for (int8_t*& to : lines.to) to += to == nullptr ? 0 : block.channel;
      // The halves of a line overlap where it has an odd number of outputs.
      if (block.two) {
        const int64_t half = (lines.outputs + 1) / 2;
        lines.apart = lines.outputs - half;
        lines.outputs = half;
      }
      RunStripLines(lines);
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::DwStripsState),
    .prepare = lathe::PrepareStrips,
    .plan = lathe::PlanDwBytes,
    .run = lathe::RunStrips,
};
