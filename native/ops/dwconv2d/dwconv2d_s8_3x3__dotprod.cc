#include <arm_neon.h>
#include "native/ops/dwconv2d/dwconv2d_bytes_3x3.h"

namespace lathe {
namespace {

struct Whole {
  using Bytes = int8x16_t;
  static constexpr int kChannels = 16;
  static constexpr int32_t kOffset = 0;  // both factors have signs
  static Bytes Load(const void* from) { return vld1q_s8(static_cast<const int8_t*>(from)); }
  static Bytes LoadPart(const int8_t* from, int64_t) { return vld1q_s8(from); }
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
  static void Store(int8_t* to, Bytes x, int64_t) { vst1q_s8(to, x); }
};

// Less channels than that.
struct Few : Whole {
  static Bytes LoadPart(const int8_t* from, int64_t count) {
    int8_t bytes[kChannels] = {};
    memcpy(bytes, from, static_cast<size_t>(count));
    return vld1q_s8(bytes);
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
  static constexpr int32_t kOffset = Whole::kOffset;
  static constexpr int64_t kBytes = DwBlockBytes(Whole::kChannels);

  static int64_t Count(int64_t channels) { return (channels + Whole::kChannels - 1) / Whole::kChannels; }

  static Block At(int64_t channels, int64_t index) {
    const int64_t channel = index * Whole::kChannels;
    const bool overlaps = channel + Whole::kChannels > channels && channels > Whole::kChannels;
    return {overlaps ? channels - Whole::kChannels : channel, Whole::kChannels};
  }

  static void Run(const Block&, const DwByteLine& line) {
    (line.channels >= Whole::kChannels ? Sweep<Whole> : Sweep<Few>)(line);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::DwBytes3x3Kernel<lathe::Blocks>();
