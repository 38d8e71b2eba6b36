// Windows of 3 x 3 over bytes. Four rows of a column stand side by side: one instruction adds the products of all rows
// of the window, where products of 16 bits would take nine and pairs of those five. What costs is getting the bytes
// there, two instructions for a vector of sums, so every column is put together once and read by all outputs that look
// at it. Packing the results into bytes undoes the order that the unpacking of the columns made.
//
// The file of an instruction set has vectors V of kChannels bytes: Load, LoadPart (of so many channels), Fill, Flip
// (adds kOffset to bytes), Low8, High8, Low16 and High16 (of two, alternating, within 16 bytes), Dot, Scaled, Pack and
// Store (with the bytes that are left of the line). And `Blocks`: how channels are cut into them.
#ifndef LATHE_OPS_DWCONV2D_BYTES_3X3_H_
#define LATHE_OPS_DWCONV2D_BYTES_3X3_H_

#include "native/ops/dwconv2d/dwconv2d_bytes.h"

namespace lathe {
namespace {

constexpr int kColumns = 3;

struct DwBytes3x3State {
  DwByteState node;       // stands first: PlanDwBytes reads it there
  const char* packed;     // block after block: columns of the filter, starts and factors, in the order of the sums
  const int8_t* outside;  // a pixel outside of the image
};

// Where a block begins and what it takes. The last ones overlap where channels are no multiple of them.
struct Block {
  int64_t channel;
  int64_t width;
};

inline void PackBlock(const DwByteState& node, const Block& block, int32_t offset, char* to) {
  const int64_t width = block.width;
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
    // Bytes are read with `offset` added, and pixels outside of the image are the zero point.
    starts[place] = static_cast<int32_t>(static_cast<uint32_t>(node.bias[channel]) -
                                         static_cast<uint32_t>((node.x_zero + offset) * sum));
    factors[place] = node.factors[channel];
  }
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
  const int8_t high;
  Bytes weights[kColumns][kQuarters];

  explicit DwByteSweep(const DwByteLine& job)
      : line(job),
        steps(job.node->steps),
        outside(static_cast<int8_t>(job.node->x_zero + V::kOffset)),
        low(ByteOf(steps.low, steps)),
        high(ByteOf(steps.high, steps)) {
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
    const Bytes first = V::Flip(V::LoadPart(line.rows[0] + at * line.steps[0], line.channels));
    const Bytes second = V::Flip(V::LoadPart(line.rows[1] + at * line.steps[1], line.channels));
    const Bytes third = V::Flip(V::LoadPart(line.rows[2] + at * line.steps[2], line.channels));
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
    V::Store(line.to + at * line.output_step, V::Pack(sums, steps.zero, low, high),
             (line.outputs - at) * line.output_step);
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
DwByteLine LineAt(const DwBytes3x3State& state, const RunContext& context, int64_t number) {
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

// What the node says, and a pixel outside of the image.
__attribute__((cold)) Code ReadDwBytes3x3(PrepareContext& context, DwBytes3x3State* state) {
  LATHE_TRY(ReadDwBytes(context, &state->node));
  const DwByteState& node = state->node;
  for (int axis = 0; axis < 2; ++axis) {
    if (node.window.kernel[axis] != 3 || node.window.dilations[axis] != 1 || node.window.strides[axis] > 2 ||
        node.window.strides[0] != node.window.strides[1] || node.multiplier != 1)
      return context.Fail(Code::kUnsupported, "this kernel has other windows");
  }
  int8_t* outside = nullptr;
  LATHE_TRY(AllocateArray(context, node.channels, &outside));
  memset(outside, node.x_zero, static_cast<size_t>(node.channels));
  state->outside = outside;
  return Code::kOk;
}

template <typename Blocks>
__attribute__((cold)) Code PackDwBytes3x3(PrepareContext& context, DwBytes3x3State* state) {
  const DwByteState& node = state->node;
  const int64_t blocks = Blocks::Count(node.channels);
  char* packed = nullptr;
  LATHE_TRY(AllocateArray(context, blocks * Blocks::kBytes, &packed));
  for (int64_t i = 0; i < blocks; ++i)
    PackBlock(node, Blocks::At(node.channels, i), Blocks::kOffset, packed + i * Blocks::kBytes);
  state->packed = packed;
  return Code::kOk;
}

template <typename Blocks>
__attribute__((cold)) Code PrepareDwBytes3x3(PrepareContext& context) {
  DwBytes3x3State& state = *static_cast<DwBytes3x3State*>(context.state());
  LATHE_TRY(ReadDwBytes3x3(context, &state));
  return PackDwBytes3x3<Blocks>(context, &state);
}

template <typename Blocks>
void RunDwBytes3x3(const RunContext& context) {
  const DwBytes3x3State& state = context.State<DwBytes3x3State>();
  const Shape& out = context.outputs[0].shape;
  const int64_t channels = out[3], blocks = Blocks::Count(channels);
  if (out.Count() == 0) return;
  context.For(out[0] * out[1] * blocks, 1, [&](int64_t begin, int64_t end, int) {
    int64_t number = begin / blocks, index = begin % blocks;
    while (begin < end) {
      const DwByteLine whole = LineAt(state, context, number++);
      for (; index < blocks && begin < end; ++index, ++begin) {
        const Block block = Blocks::At(channels, index);
        DwByteLine line = whole;
        line.packed = state.packed + index * Blocks::kBytes;
        for (const int8_t*& row : line.rows) row += block.channel;
        line.to += block.channel;
        Blocks::Run(block, line);
      }
      index = 0;
    }
  });
}

template <typename Blocks>
constexpr KernelFunctions DwBytes3x3Kernel() {
  return {
      .state_size = sizeof(DwBytes3x3State),
      .prepare = PrepareDwBytes3x3<Blocks>,
      .plan = PlanDwBytes,
      .run = RunDwBytes3x3<Blocks>,
  };
}

// Bytes of a packed block: of every column four vectors, and of starts and factors as many.
constexpr int64_t DwBlockBytes(int64_t width) { return (kColumns + 2) * kQuarters * width; }

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_DWCONV2D_BYTES_3X3_H_
