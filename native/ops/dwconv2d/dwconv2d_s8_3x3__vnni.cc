// Windows of 3 x 3 over bytes. Four rows of a column stand side by side: one instruction adds the products of all rows
// of the window, where products of 16 bits would take nine and pairs of those five. What costs is getting the bytes
// there, two instructions for 16 channels, so every column is put together once and read by all outputs that look at
// it. Packing the results into bytes undoes the order that the unpacking of the columns made.
#include <immintrin.h>

#include "native/ops/dwconv2d/dwconv2d_bytes.h"

namespace lathe {
namespace {

constexpr int kQuarters = 4;  // a vector of bytes is four of sums
constexpr int kColumns = 3;

// The channels of a block: 64, or 32 where no more are left.
struct Wide {
  using Bytes = __m512i;
  static constexpr int kChannels = 64;
  static constexpr __mmask16 kAll = 0xffff;  // GCC 12 warns of its own header's functions without a mask
  static Bytes Load(const void* from) { return _mm512_loadu_si512(from); }
  static Bytes LoadPart(const int8_t* from, int64_t) { return Load(from); }
  static Bytes Fill(int8_t x) { return _mm512_set1_epi8(x); }
  static Bytes Flip(Bytes a, Bytes b) { return _mm512_xor_si512(a, b); }
  static Bytes Low8(Bytes a, Bytes b) { return _mm512_unpacklo_epi8(a, b); }
  static Bytes High8(Bytes a, Bytes b) { return _mm512_unpackhi_epi8(a, b); }
  static Bytes Low16(Bytes a, Bytes b) { return _mm512_unpacklo_epi16(a, b); }
  static Bytes High16(Bytes a, Bytes b) { return _mm512_unpackhi_epi16(a, b); }
  static Bytes Dot(Bytes sum, Bytes x, Bytes w) { return _mm512_dpbusd_epi32(sum, x, w); }
  static Bytes Scaled(Bytes sum, const float* factors, float high) {
    const __m512 value = _mm512_mul_ps(_mm512_maskz_cvtepi32_ps(kAll, sum), _mm512_loadu_ps(factors));
    return _mm512_maskz_cvtps_epi32(kAll, _mm512_maskz_min_ps(kAll, value, _mm512_set1_ps(high)));
  }
  static Bytes Pack(const Bytes (&sums)[kQuarters], int zero, int8_t low) {
    const Bytes zeros = _mm512_set1_epi16(static_cast<int16_t>(zero));
    const Bytes first = _mm512_adds_epi16(_mm512_packs_epi32(sums[0], sums[1]), zeros);
    const Bytes second = _mm512_adds_epi16(_mm512_packs_epi32(sums[2], sums[3]), zeros);
    return _mm512_max_epi8(_mm512_packs_epi16(first, second), Fill(low));
  }
  static void Store(int8_t* to, Bytes x, int64_t) { _mm512_storeu_si512(to, x); }
};

struct Narrow {
  using Bytes = __m256i;
  static constexpr int kChannels = 32;
  static Bytes Load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
  static Bytes LoadPart(const int8_t* from, int64_t) { return Load(from); }
  static Bytes Fill(int8_t x) { return _mm256_set1_epi8(x); }
  static Bytes Flip(Bytes a, Bytes b) { return _mm256_xor_si256(a, b); }
  static Bytes Low8(Bytes a, Bytes b) { return _mm256_unpacklo_epi8(a, b); }
  static Bytes High8(Bytes a, Bytes b) { return _mm256_unpackhi_epi8(a, b); }
  static Bytes Low16(Bytes a, Bytes b) { return _mm256_unpacklo_epi16(a, b); }
  static Bytes High16(Bytes a, Bytes b) { return _mm256_unpackhi_epi16(a, b); }
  static Bytes Dot(Bytes sum, Bytes x, Bytes w) { return _mm256_dpbusd_epi32(sum, x, w); }
  static Bytes Scaled(Bytes sum, const float* factors, float high) {
    const __m256 value = _mm256_mul_ps(_mm256_cvtepi32_ps(sum), _mm256_loadu_ps(factors));
    return _mm256_cvtps_epi32(_mm256_min_ps(value, _mm256_set1_ps(high)));
  }
  static Bytes Pack(const Bytes (&sums)[kQuarters], int zero, int8_t low) {
    const Bytes zeros = _mm256_set1_epi16(static_cast<int16_t>(zero));
    const Bytes first = _mm256_adds_epi16(_mm256_packs_epi32(sums[0], sums[1]), zeros);
    const Bytes second = _mm256_adds_epi16(_mm256_packs_epi32(sums[2], sums[3]), zeros);
    return _mm256_max_epi8(_mm256_packs_epi16(first, second), Fill(low));
  }
  static void Store(int8_t* to, Bytes x, int64_t) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), x); }
};

// Less channels than that.
struct Few : Narrow {
  static Bytes LoadPart(const int8_t* from, int64_t count) {
    return _mm256_maskz_loadu_epi8((uint32_t{1} << count) - 1, from);
  }
  // What is written behind a pixel is that of the next one, which comes later.
  static void Store(int8_t* to, Bytes x, int64_t room) {
    if (room >= kChannels) return Narrow::Store(to, x, room);
    _mm256_mask_storeu_epi8(to, (uint32_t{1} << room) - 1, x);
  }
};

struct State {
  DwByteState node;       // stands first: PlanDwBytes reads it there
  const char* packed;     // block after block: columns of the filter, starts and factors, in the order of the sums
  const int8_t* outside;  // a pixel outside of the image
};

// Where a block begins and what it takes. The last ones overlap where channels are no multiple of them.
struct Block {
  int64_t channel;
  bool wide;
};

inline int64_t CountBlocks(int64_t channels) {
  return channels < Wide::kChannels ? (channels > 32 ? 2 : 1) : (channels + 63) / 64;
}

inline Block BlockAt(int64_t channels, int64_t index) {
  const int64_t channel = index * Wide::kChannels;
  if (channel + Wide::kChannels <= channels) return {channel, true};
  if (channels < Wide::kChannels) return {index == 0 ? 0 : channels - Narrow::kChannels, false};
  const bool wide = channels - channel > Narrow::kChannels;
  return {channels - (wide ? Wide::kChannels : Narrow::kChannels), wide};
}

// Bytes of a packed block: of every column four vectors, and of starts and factors as many.
constexpr int64_t kBlockBytes = (kColumns + 2) * kQuarters * Wide::kChannels;

// The place of a channel among the sums of its block.
inline int64_t SumPlace(int64_t channel, int64_t width) {
  return channel % 16 / 4 * (width / kQuarters) + channel / 16 * 4 + channel % 4;
}

void PackBlock(const DwByteState& node, const Block& block, char* to) {
  const int64_t width = block.wide ? Wide::kChannels : Narrow::kChannels;
  int8_t* weights = reinterpret_cast<int8_t*>(to);
  int32_t* starts = reinterpret_cast<int32_t*>(to + kColumns * kQuarters * width);
  float* factors = reinterpret_cast<float*>(starts + width);
  for (int64_t i = 0; i < width && block.channel + i < node.channels; ++i) {
    const int64_t channel = block.channel + i, place = SumPlace(i, width);
    int32_t sum = 0;
    for (int row = 0; row < 3; ++row) {
      for (int column = 0; column < kColumns; ++column) {
        const int8_t w = node.filter[(row * kColumns + column) * node.channels + channel];
        weights[(column * width + place) * 4 + row] = w;
        sum += w;
      }
    }
    // Bytes are read with 128 added, and pixels outside of the image are the zero point.
    starts[place] = static_cast<int32_t>(static_cast<uint32_t>(node.bias[channel]) -
                                         static_cast<uint32_t>((node.x_zero + 128) * sum));
    factors[place] = node.factors[channel];
  }
}

__attribute__((cold)) Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(ReadDwBytes(context, &state.node));
  const DwByteState& node = state.node;
  for (int axis = 0; axis < 2; ++axis) {
    if (node.window.kernel[axis] != 3 || node.window.dilations[axis] != 1 || node.window.strides[axis] > 2 ||
        node.window.strides[0] != node.window.strides[1] || node.multiplier != 1)
      return context.Fail(Code::kUnsupported, "this kernel has other windows");
  }
  const int64_t blocks = CountBlocks(node.channels);
  char* packed = nullptr;
  int8_t* outside = nullptr;
  LATHE_TRY(AllocateArray(context, blocks * kBlockBytes, &packed));
  LATHE_TRY(AllocateArray(context, node.channels, &outside));
  for (int64_t i = 0; i < blocks; ++i) PackBlock(node, BlockAt(node.channels, i), packed + i * kBlockBytes);
  memset(outside, node.x_zero, static_cast<size_t>(node.channels));
  state.packed = packed;
  state.outside = outside;
  return Code::kOk;
}

// One line of the output, for a block of channels.
struct DwByteLine {
  const DwByteState* node;
  const char* packed;
  const int8_t* rows[3];  // at the first column of the image
  int64_t steps[3];       // from column to column
  int64_t width;          // of the image
  int64_t outputs;
  int64_t output_step;
  int64_t channels;  // of the block
  int8_t* to;
};

template <typename V>
struct DwByteSweep {
  using Bytes = typename V::Bytes;

  const DwByteLine line;  // a copy, which no store can change
  const Steps steps;
  const int8_t outside;
  const int8_t low;
  Bytes weights[kColumns][kQuarters];

  explicit DwByteSweep(const DwByteLine& job)
      : line(job),
        steps(job.node->steps),
        outside(static_cast<int8_t>(job.node->x_zero ^ -128)),
        low(ByteOf(steps.low, steps)) {
#pragma GCC unroll 12
    for (int i = 0; i < kColumns * kQuarters; ++i) {
      weights[i / kQuarters][i % kQuarters] = V::Load(line.packed + i * V::kChannels);
    }
  }

  // All rows of a column, the third one twice: the weight of what comes fourth is 0.
  LATHE_INLINE void Column(int64_t at, Bytes (&to)[kQuarters]) const {
    if (at < 0 || at >= line.width) {
      for (Bytes& quarter : to) quarter = V::Fill(outside);
      return;
    }
    const Bytes flip = V::Fill(-128);
    const Bytes first = V::Flip(V::LoadPart(line.rows[0] + at * line.steps[0], line.channels), flip);
    const Bytes second = V::Flip(V::LoadPart(line.rows[1] + at * line.steps[1], line.channels), flip);
    const Bytes third = V::Flip(V::LoadPart(line.rows[2] + at * line.steps[2], line.channels), flip);
    const Bytes low_pair = V::Low8(first, second), high_pair = V::High8(first, second);
    const Bytes low_rest = V::Low8(third, third), high_rest = V::High8(third, third);
    to[0] = V::Low16(low_pair, low_rest);
    to[1] = V::High16(low_pair, low_rest);
    to[2] = V::Low16(high_pair, high_rest);
    to[3] = V::High16(high_pair, high_rest);
  }

  LATHE_INLINE void Output(int64_t at, const Bytes (&left)[kQuarters], const Bytes (&middle)[kQuarters],
                           const Bytes (&right)[kQuarters]) const {
    const char* starts = line.packed + kColumns * kQuarters * V::kChannels;
    const float* factors = reinterpret_cast<const float*>(starts + kQuarters * V::kChannels);
    Bytes sums[kQuarters];
#pragma GCC unroll 4
    for (int i = 0; i < kQuarters; ++i) {
      sums[i] = V::Dot(V::Load(starts + i * V::kChannels), left[i], weights[0][i]);
      sums[i] = V::Dot(sums[i], middle[i], weights[1][i]);
      sums[i] = V::Dot(sums[i], right[i], weights[2][i]);
      sums[i] = V::Scaled(sums[i], factors + i * V::kChannels / kQuarters, steps.high);
    }
    V::Store(line.to + at * line.output_step, V::Pack(sums, steps.zero, low), (line.outputs - at) * line.output_step);
  }
};

// The columns that an output shares with the one before keep their registers.
template <typename V>
void SweepOnes(const DwByteLine& line) {
  const DwByteSweep<V> sweep(line);
  typename V::Bytes a[kQuarters], b[kQuarters], c[kQuarters];
  int64_t column = -line.node->window.before[1];
  sweep.Column(column, a);
  sweep.Column(column + 1, b);
  for (int64_t at = 0;; column += 3) {
    sweep.Column(column + 2, c);
    sweep.Output(at, a, b, c);
    if (++at == line.outputs) return;
    sweep.Column(column + 3, a);
    sweep.Output(at, b, c, a);
    if (++at == line.outputs) return;
    sweep.Column(column + 4, b);
    sweep.Output(at, c, a, b);
    if (++at == line.outputs) return;
  }
}

template <typename V>
void SweepTwos(const DwByteLine& line) {
  const DwByteSweep<V> sweep(line);
  typename V::Bytes a[kQuarters], b[kQuarters], c[kQuarters];
  int64_t column = -line.node->window.before[1];
  sweep.Column(column, a);
  for (int64_t at = 0;; column += 4) {
    sweep.Column(column + 1, b);
    sweep.Column(column + 2, c);
    sweep.Output(at, a, b, c);
    if (++at == line.outputs) return;
    sweep.Column(column + 3, b);
    sweep.Column(column + 4, a);
    sweep.Output(at, c, b, a);
    if (++at == line.outputs) return;
  }
}

template <typename V>
inline void Sweep(const DwByteLine& line) {
  (line.node->window.strides[1] == 1 ? SweepOnes<V> : SweepTwos<V>)(line);
}

// The rows that a line of the output looks at, for all channels.
DwByteLine LineAt(const State& state, const RunContext& context, int64_t number) {
  const DwByteState& node = state.node;
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  DwByteLine line = {};
  line.node = &node;
  line.width = in[2];
  line.outputs = out[2];
  line.output_step = line.channels = out[3];
  line.to = static_cast<int8_t*>(context.outputs[0].data) + number * out[2] * out[3];
  const int64_t batch = number / out[1];
  const int64_t top = (number - batch * out[1]) * node.window.strides[0] - node.window.before[0];
  const int8_t* image = context.inputs[0].As<int8_t>() + batch * in.Count(1, 4);
  for (int row = 0; row < 3; ++row) {
    const bool inside = top + row >= 0 && top + row < in[1];
    line.rows[row] = inside ? image + (top + row) * in[2] * in[3] : state.outside;
    line.steps[row] = inside ? in[3] : 0;
  }
  return line;
}

void Run(const RunContext& context) {
  const State& state = context.State<State>();
  const Shape& out = context.outputs[0].shape;
  const int64_t channels = out[3], blocks = CountBlocks(channels);
  const auto few = channels >= Narrow::kChannels ? Sweep<Narrow> : Sweep<Few>;
  if (out.Count() == 0) return;
  context.For(out[0] * out[1] * blocks, 1, [&](int64_t begin, int64_t end, int) {
    int64_t number = begin / blocks, index = begin % blocks;
    while (begin < end) {
      const DwByteLine whole = LineAt(state, context, number++);
      for (; index < blocks && begin < end; ++index, ++begin) {
        const Block block = BlockAt(channels, index);
        DwByteLine line = whole;
        line.packed = state.packed + index * kBlockBytes;
        for (const int8_t*& row : line.rows) row += block.channel;
        line.to += block.channel;
        (block.wide ? Sweep<Wide> : few)(line);
      }
      index = 0;
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL(dwconv2d_s8_3x3__vnni) = {"dwconv2d_s8_3x3__vnni", "dwconv2d", sizeof(lathe::State), 0, -1, lathe::Prepare,
                                       lathe::PlanDwBytes,      lathe::Run};
