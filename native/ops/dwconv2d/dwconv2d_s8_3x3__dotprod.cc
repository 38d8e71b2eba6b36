#include <arm_neon.h>
#include "native/ops/dwconv2d/dwconv2d_bytes_3x3.h"

namespace lathe {
namespace {

// Less than eight channels.
struct Few {
  using Bytes = int8x16_t;
  static constexpr int kChannels = 16;
  static constexpr int32_t kOffset = 0;  // both factors have signs
  static Bytes Load(const void* from) { return vld1q_s8(static_cast<const int8_t*>(from)); }
  static Bytes LoadPart(const int8_t* from, int64_t count) {
    int8_t bytes[kChannels] = {};
    memcpy(bytes, from, static_cast<size_t>(count));
    return vld1q_s8(bytes);
  }
  static Bytes Fill(int8_t x) { return vdupq_n_s8(x); }
  static Bytes Flip(Bytes x) { return x; }
  static Bytes Low8(Bytes a, Bytes b) { return vzip1q_s8(a, b); }
  static Bytes High8(Bytes a, Bytes b) { return vzip2q_s8(a, b); }
  static Bytes Low16(Bytes a, Bytes b) {
    return vreinterpretq_s8_s16(vzip1q_s16(vreinterpretq_s16_s8(a), vreinterpretq_s16_s8(b)));
  }
  static Bytes High16(Bytes a, Bytes b) {
    return vreinterpretq_s8_s16(vzip2q_s16(vreinterpretq_s16_s8(a), vreinterpretq_s16_s8(b)));
  }
  static Bytes Dot(Bytes sum, Bytes x, Bytes w) {
    return vreinterpretq_s8_s32(vdotq_s32(vreinterpretq_s32_s8(sum), x, w));
  }
  // What is too large becomes the largest number: limits may wait.
  static Bytes Scaled(Bytes sum, const float* factors, float) {
    const float32x4_t value = vmulq_f32(vcvtq_f32_s32(vreinterpretq_s32_s8(sum)), vld1q_f32(factors));
    return vreinterpretq_s8_s32(vcvtnq_s32_f32(value));
  }
  static Bytes Pack(const Bytes (&sums)[kQuarters], int zero, int8_t low, int8_t high) {
    const int16x8_t zeros = vdupq_n_s16(static_cast<int16_t>(zero));
    const int16x8_t first = vqaddq_s16(Words(sums[0], sums[1]), zeros),
                    second = vqaddq_s16(Words(sums[2], sums[3]), zeros);
    return vmaxq_s8(vminq_s8(vqmovn_high_s16(vqmovn_s16(first), second), Fill(high)), Fill(low));
  }
  static int16x8_t Words(Bytes a, Bytes b) {
    return vqmovn_high_s32(vqmovn_s32(vreinterpretq_s32_s8(a)), vreinterpretq_s32_s8(b));
  }
  // What is written behind a pixel is that of the next one, which comes later.
  static void Store(int8_t* to, Bytes x, int64_t room) {
    if (room >= kChannels) return vst1q_s8(to, x);
    int8_t bytes[kChannels];
    vst1q_s8(bytes, x);
    memcpy(to, bytes, static_cast<size_t>(room));
  }
};

struct Blocks {
  static constexpr int32_t kOffset = Few::kOffset;
  static constexpr int64_t kBytes = DwBlockBytes(Few::kChannels);
  static int64_t Count(int64_t) { return 1; }
  static Block At(int64_t, int64_t) { return {0, Few::kChannels}; }
  static void Run(const Block&, const DwByteLine& line) { Sweep<Few>(line); }
};

// Eight channels at a time, so that all that a sweep needs stays in registers. Where the window moves by 1, that is two
// lines of the output: the four rows of a column that both look at are put together once. The filter of the first line
// has 0 for the last row, that of the second for the first row.
constexpr int64_t kEight = 8;
constexpr int kHalves = 2;  // vectors of sums of so many channels

struct EightBlock {
  int8x16_t weights[2][kColumns][kHalves];  // of each line
  int32x4_t starts[kHalves];
  float32x4_t factors[kHalves];
};

struct EightState {
  DwBytes3x3State few;       // stands first: PlanDwBytes and the kernel for few channels read it there
  const EightBlock* blocks;  // null: less than eight channels
};

struct EightLines {
  const EightBlock* block;
  const int8_t* rows[4];  // at the first column of the image
  int64_t steps[4];       // from column to column
  int64_t width;          // of the image
  int64_t before;         // columns
  int64_t outputs;
  int64_t output_step;
  int8_t* to[2];  // the same where there is no second line: the first is stored last
  int16_t zero;
  int8_t outside;
  int8_t low;
  int8_t high;
};

// Eight bytes, and on to the next.
inline int8x16_t LoadEight(const int8_t** from, int64_t step) {
  int8x16_t x;
  asm volatile("ld1 {%0.8b}, [%1], %2" : "=w"(x), "+r"(*from) : "r"(step) : "memory");
  return x;
}

inline void StoreEight(int8_t** to, int8x8_t x, int64_t step) {
  asm volatile("st1 {%1.8b}, [%0], %2" : "+r"(*to) : "w"(x), "r"(step) : "memory");
}

template <int lines, bool clips>
struct EightSweep {
  using Column = int8x16_t[kHalves];

  const int8_t* rows[lines + 2];  // at the column that comes next
  int64_t steps[lines + 2];
  int8_t* to[lines];
  const int64_t output_step;
  const int16x8_t zero;
  const int8x8_t low;
  const int8x8_t high;
  const EightBlock block;

  explicit EightSweep(const EightLines& job)
      : output_step(job.output_step),
        zero(vdupq_n_s16(job.zero)),
        low(vdup_n_s8(job.low)),
        high(vdup_n_s8(job.high)),
        block(*job.block) {
#pragma GCC unroll 4
    for (int i = 0; i < lines + 2; ++i) {
      rows[i] = job.rows[i];
      steps[i] = job.steps[i];
    }
#pragma GCC unroll 2
    for (int i = 0; i < lines; ++i) to[i] = job.to[i];
  }

  // Of three rows the third stands there twice: the weight of what comes fourth is 0.
  LATHE_INLINE void Next(Column& column) {
    const int8x16_t a = LoadEight(&rows[0], steps[0]), b = LoadEight(&rows[1], steps[1]);
    const int8x16_t c = LoadEight(&rows[2], steps[2]);
    int8x16_t d = c;
    if constexpr (lines == 2) d = LoadEight(&rows[3], steps[3]);
    const int16x8_t upper = vreinterpretq_s16_s8(vzip1q_s8(a, b)), lower = vreinterpretq_s16_s8(vzip1q_s8(c, d));
    column[0] = vreinterpretq_s8_s16(vzip1q_s16(upper, lower));
    column[1] = vreinterpretq_s8_s16(vzip2q_s16(upper, lower));
  }

  LATHE_INLINE void NextOrOutside(const EightLines& job, int64_t at, Column& column) {
    if (at >= 0 && at < job.width) return Next(column);
    column[0] = column[1] = vdupq_n_s8(job.outside);
  }

  LATHE_INLINE void Output(const Column& left, const Column& middle, const Column& right) {
#pragma GCC unroll 2
    for (int line = lines - 1; line >= 0; --line) {
      int32x4_t y[kHalves];
#pragma GCC unroll 2
      for (int half = 0; half < kHalves; ++half) {
        int32x4_t sum = vdotq_s32(block.starts[half], left[half], block.weights[line][0][half]);
        sum = vdotq_s32(sum, middle[half], block.weights[line][1][half]);
        sum = vdotq_s32(sum, right[half], block.weights[line][2][half]);
        y[half] = vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(sum), block.factors[half]));
      }
      int8x8_t bytes = vqmovn_s16(vqaddq_s16(vqmovn_high_s32(vqmovn_s32(y[0]), y[1]), zero));
      if constexpr (clips) bytes = vmax_s8(vmin_s8(bytes, high), low);
      StoreEight(&to[line], bytes, output_step);
    }
  }
};

// The columns that an output shares with the one before keep their registers.
template <bool clips>
__attribute__((noinline)) void SweepByOne(const EightLines& job) {
  EightSweep<2, clips> sweep(job);
  int8x16_t a[kHalves], b[kHalves], c[kHalves];
  int64_t column = -job.before;
  sweep.NextOrOutside(job, column, a);
  sweep.NextOrOutside(job, column + 1, b);
  column += 2;  // that comes next
  for (int64_t left = job.outputs;;) {
    const int64_t inside = column >= 0 ? job.width - column : 0;
    for (int64_t i = (inside < left ? inside : left) / 3; i > 0; --i, left -= 3, column += 3) {
      sweep.Next(c);
      sweep.Output(a, b, c);
      sweep.Next(a);
      sweep.Output(b, c, a);
      sweep.Next(b);
      sweep.Output(c, a, b);
    }
    if (left == 0) return;
    sweep.NextOrOutside(job, column, c);
    sweep.Output(a, b, c);
    if (--left == 0) return;
    sweep.NextOrOutside(job, column + 1, a);
    sweep.Output(b, c, a);
    if (--left == 0) return;
    sweep.NextOrOutside(job, column + 2, b);
    sweep.Output(c, a, b);
    if (--left == 0) return;
    column += 3;
  }
}

template <bool clips>
__attribute__((noinline)) void SweepByTwo(const EightLines& job) {
  EightSweep<1, clips> sweep(job);
  int8x16_t a[kHalves], b[kHalves], c[kHalves];
  int64_t column = -job.before;
  sweep.NextOrOutside(job, column, a);
  ++column;  // that comes next
  for (int64_t left = job.outputs;;) {
    const int64_t inside = column >= 0 && column < job.width ? (job.width - column) / 2 : 0;
    for (int64_t i = (inside < left ? inside : left) / 2; i > 0; --i, left -= 2, column += 4) {
      sweep.Next(b);
      sweep.Next(c);
      sweep.Output(a, b, c);
      sweep.Next(b);
      sweep.Next(a);
      sweep.Output(c, b, a);
    }
    if (left == 0) return;
    sweep.NextOrOutside(job, column, b);
    sweep.NextOrOutside(job, column + 1, c);
    sweep.Output(a, b, c);
    if (--left == 0) return;
    sweep.NextOrOutside(job, column + 2, b);
    sweep.NextOrOutside(job, column + 3, a);
    sweep.Output(c, b, a);
    if (--left == 0) return;
    column += 4;
  }
}

// The first channel of a block: the last one overlaps where channels are no multiple of them.
inline int64_t FirstOfEight(int64_t channels, int64_t index) {
  const int64_t channel = index * kEight;
  return channel + kEight > channels ? channels - kEight : channel;
}

void PackEight(const DwByteState& node, int64_t first, EightBlock* block) {
  memset(static_cast<void*>(block), 0, sizeof *block);
  int8_t* const weights = reinterpret_cast<int8_t*>(block->weights);
  int32_t* const starts = reinterpret_cast<int32_t*>(block->starts);
  float* const factors = reinterpret_cast<float*>(block->factors);
  for (int64_t i = 0; i < kEight; ++i) {
    int32_t sum = 0;
    for (int row = 0; row < 3; ++row) {
      for (int column = 0; column < kColumns; ++column) {
        const int8_t w = node.filter[(row * kColumns + column) * node.channels + first + i];
        for (int line = 0; line < 2; ++line) weights[((line * kColumns + column) * kEight + i) * 4 + line + row] = w;
        sum += w;
      }
    }
    starts[i] =
        static_cast<int32_t>(static_cast<uint32_t>(node.bias[first + i]) - static_cast<uint32_t>(node.x_zero * sum));
    factors[i] = node.factors[first + i];
  }
}

__attribute__((cold)) Code PrepareEight(PrepareContext& context) {
  EightState& state = *static_cast<EightState*>(context.state());
  LATHE_TRY(ReadDwBytes3x3(context, &state.few));
  const DwByteState& node = state.few.node;
  if (node.channels < kEight) return PackDwBytes3x3<Blocks>(context, &state.few);
  const int64_t count = (node.channels + kEight - 1) / kEight;
  EightBlock* blocks = nullptr;
  LATHE_TRY(AllocateArray(context, count, &blocks));
  for (int64_t i = 0; i < count; ++i) PackEight(node, FirstOfEight(node.channels, i), blocks + i);
  state.blocks = blocks;
  return Code::kOk;
}

// Lines of the output that are computed together.
inline int64_t LinesAtOnce(const DwByteState& node) { return node.window.strides[0] == 1 ? 2 : 1; }

// The rows that these lines look at, for all channels.
EightLines LinesAt(const EightState& state, const RunContext& context, int64_t number) {
  const DwByteState& node = state.few.node;
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  EightLines lines = {};
  lines.width = in[2];
  lines.before = node.window.before[1];
  lines.outputs = out[2];
  lines.output_step = out[3];
  lines.zero = static_cast<int16_t>(node.steps.zero);
  lines.outside = static_cast<int8_t>(node.x_zero);
  lines.low = ByteOf(node.steps.low, node.steps);
  lines.high = ByteOf(node.steps.high, node.steps);
  const int64_t once = LinesAtOnce(node), groups = (out[1] + once - 1) / once;
  const int64_t batch = number / groups, line = (number - batch * groups) * once;
  const int64_t top = line * node.window.strides[0] - node.window.before[0];
  const int8_t* image = context.inputs[0].As<int8_t>() + batch * in.Count(1, 4);
  for (int row = 0; row < 4; ++row) {
    const bool inside = top + row >= 0 && top + row < in[1];
    lines.rows[row] = inside ? image + (top + row) * in[2] * in[3] : state.few.outside;
    lines.steps[row] = inside ? in[3] : 0;
  }
  lines.to[0] = static_cast<int8_t*>(context.outputs[0].data) + (batch * out[1] + line) * out[2] * out[3];
  lines.to[1] = line + 1 < out[1] ? lines.to[0] + out[2] * out[3] : lines.to[0];
  return lines;
}

void RunEight(const RunContext& context) {
  const EightState& state = context.State<EightState>();
  const Shape& out = context.outputs[0].shape;
  if (state.blocks == nullptr) return RunDwBytes3x3<Blocks>(context);
  if (out.Count() == 0) return;
  const int64_t once = LinesAtOnce(state.few.node), blocks = (out[3] + kEight - 1) / kEight;
  context.For(out[0] * ((out[1] + once - 1) / once) * blocks, 2, [&](int64_t begin, int64_t end, int) {
    int64_t number = begin / blocks, index = begin % blocks;
    while (begin < end) {
      const EightLines whole = LinesAt(state, context, number++);
      const bool clips = whole.low > INT8_MIN || whole.high < INT8_MAX;
      const auto by_one = clips ? SweepByOne<true> : SweepByOne<false>;
      const auto sweep = once == 2 ? by_one : clips ? SweepByTwo<true> : SweepByTwo<false>;
      for (; index < blocks && begin < end; ++index, ++begin) {
        const int64_t channel = FirstOfEight(out[3], index);
        EightLines lines = whole;
        lines.block = state.blocks + index;
        for (const int8_t*& row : lines.rows) row += channel;
        for (int8_t*& to : lines.to) to += channel;
        sweep(lines);
      }
      index = 0;
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::EightState),
    .prepare = lathe::PrepareEight,
    .plan = lathe::PlanDwBytes,
    .run = lathe::RunEight,
};
