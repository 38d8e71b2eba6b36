// Vectors of 16 bytes, on ARM with NEON (armv8, and armv7 with VFPv4). words_avx2.h offers the same, of 32.
#ifndef LATHE_VISION_WORDS_NEON_H_
#define LATHE_VISION_WORDS_NEON_H_

#include <arm_neon.h>
#include <stdint.h>
#include <string.h>

#include "native/vision/rows.h"

#define LATHE_VISION_BYTES 1

namespace lathe {
namespace vision {
namespace {

using ByteVector = uint8x16_t;
constexpr size_t kBytes = 16;
using HalfWords = int16x8_t;
struct Words {
  int16x8_t low, high;
};

inline ByteVector LoadVector(const uint8_t* from) { return vld1q_u8(from); }
inline void StoreVector(uint8_t* to, ByteVector x) { vst1q_u8(to, x); }
inline ByteVector FillVector(uint8_t x) { return vdupq_n_u8(x); }
// The pixels of 1, 2 or 4 bytes of a vector, the last one first.
template <int pixel>
inline ByteVector Turned(ByteVector x) {
#if defined(__aarch64__)
  alignas(16) static constexpr uint8_t kOrders[3][16] = {{15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0},
                                                         {14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1},
                                                         {12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3}};
  return vqtbl1q_u8(x, vld1q_u8(kOrders[pixel / 2]));
#else
  if (pixel == 1) x = vrev64q_u8(x);
  if (pixel == 2) x = vreinterpretq_u8_u16(vrev64q_u16(vreinterpretq_u16_u8(x)));
  if (pixel == 4) x = vreinterpretq_u8_u32(vrev64q_u32(vreinterpretq_u32_u8(x)));
  return vextq_u8(x, x, 8);
#endif
}
inline ByteVector Backwards(ByteVector x) { return Turned<1>(x); }
template <int pixel>
inline ByteVector Reversed(const uint8_t* from) {
  return Turned<pixel>(vld1q_u8(from));
}

inline HalfWords FillHalf(int x) { return vdupq_n_s16(static_cast<int16_t>(x)); }
inline HalfWords LoadHalf(const int16_t* from) { return vld1q_s16(from); }
inline void StoreHalf(int16_t* to, HalfWords x) { vst1q_s16(to, x); }
inline HalfWords AddHalf(HalfWords a, HalfWords b) { return vaddq_s16(a, b); }
inline HalfWords SubHalf(HalfWords a, HalfWords b) { return vsubq_s16(a, b); }
inline HalfWords MulRound15(HalfWords a, HalfWords b) { return vqrdmulhq_s16(a, b); }
template <int n>
inline HalfWords Right(HalfWords x) {
  return vshrq_n_s16(x, n);
}
inline ByteVector Joined(HalfWords a, HalfWords b) {
#if defined(__aarch64__)
  return vqmovun_high_s16(vqmovun_s16(a), b);
#else
  return vcombine_u8(vqmovun_s16(a), vqmovun_s16(b));
#endif
}
// Each word twice.
inline Words Doubled(HalfWords x) {
  const int16x8x2_t both = vzipq_s16(x, x);
  return {both.val[0], both.val[1]};
}
inline ByteVector Narrow(Words x) { return Joined(x.low, x.high); }
inline ByteVector NarrowSum(Words a, Words b) { return Joined(vaddq_s16(a.low, b.low), vaddq_s16(a.high, b.high)); }
inline ByteVector NarrowDifference(Words a, Words b) {
  return Joined(vsubq_s16(a.low, b.low), vsubq_s16(a.high, b.high));
}

inline void Load2(const uint8_t* from, ByteVector* a, ByteVector* b) {
  const uint8x16x2_t x = vld2q_u8(from);
  *a = x.val[0], *b = x.val[1];
}
inline void Load3(const uint8_t* from, ByteVector* a, ByteVector* b, ByteVector* c) {
  const uint8x16x3_t x = vld3q_u8(from);
  *a = x.val[0], *b = x.val[1], *c = x.val[2];
}
inline void Load4(const uint8_t* from, ByteVector* a, ByteVector* b, ByteVector* c, ByteVector* d) {
  const uint8x16x4_t x = vld4q_u8(from);
  *a = x.val[0], *b = x.val[1], *c = x.val[2], *d = x.val[3];
}
inline void Store2(uint8_t* to, ByteVector a, ByteVector b) {
  const uint8x16x2_t x = {{a, b}};
  vst2q_u8(to, x);
}
inline void Store3(uint8_t* to, ByteVector a, ByteVector b, ByteVector c) {
  const uint8x16x3_t x = {{a, b, c}};
  vst3q_u8(to, x);
}
inline void Store4(uint8_t* to, ByteVector a, ByteVector b, ByteVector c, ByteVector d) {
  const uint8x16x4_t x = {{a, b, c, d}};
  vst4q_u8(to, x);
}

// The upper halves of vectors: 64-bit ARM multiplies them where they are.
inline uint16x8_t MulUpper(uint8x16_t x, uint8x16_t by) {
#if defined(__aarch64__)
  return vmull_high_u8(x, by);
#else
  return vmull_u8(vget_high_u8(x), vget_high_u8(by));
#endif
}
inline uint16x8_t MulAddUpper(uint16x8_t sum, uint8x16_t x, uint8x16_t by) {
#if defined(__aarch64__)
  return vmlal_high_u8(sum, x, by);
#else
  return vmlal_u8(sum, vget_high_u8(x), vget_high_u8(by));
#endif
}

// (w0 a + w1 b + w2 c + 128 or 0) >> 8, plus an offset; the weights are bytes, 256 together at most.
template <bool rounds>
struct Brightness {
  uint8x16_t w[3];
  uint16x8_t bias;

  Brightness(const int16_t (&weights)[3], int added)
      : w{FillVector(static_cast<uint8_t>(weights[0])), FillVector(static_cast<uint8_t>(weights[1])),
          FillVector(static_cast<uint8_t>(weights[2]))},
        bias(vdupq_n_u16(static_cast<uint16_t>(added * 256 + (rounds ? 128 : 0)))) {}

  LATHE_INLINE ByteVector Of(ByteVector a, ByteVector b, ByteVector c) const {
    const auto low = [](uint8x16_t x) { return vget_low_u8(x); };
    const uint16x8_t first = vmlal_u8(vmlal_u8(vmull_u8(low(a), low(w[0])), low(b), low(w[1])), low(c), low(w[2]));
    const uint16x8_t second = MulAddUpper(MulAddUpper(MulUpper(a, w[0]), b, w[1]), c, w[2]);
#if defined(__aarch64__)
    return vaddhn_high_u16(vaddhn_u16(first, bias), second, bias);
#else
    return vcombine_u8(vaddhn_u16(first, bias), vaddhn_u16(second, bias));
#endif
  }
};

// The means of four pixels.
inline HalfWords Means(ByteVector first, ByteVector second) {
  return vreinterpretq_s16_u16(vrshrq_n_u16(vpadalq_u8(vpaddlq_u8(first), second), 2));
}
// The upper bytes of w0 a + w1 b + w2 c + offset, of 16 bits without a sign.
struct Tint {
  int16x4_t w;
  uint16x8_t offset;

  Tint(const int16_t (&weights)[3], int added)
      : w(vdup_n_s16(weights[0])), offset(vdupq_n_u16(static_cast<uint16_t>(added))) {
    w = vset_lane_s16(weights[2], vset_lane_s16(weights[1], w, 1), 2);
  }

  LATHE_INLINE uint8x8_t Of(const HalfWords (&x)[3]) const {
    const int16x8_t sum = vmlaq_lane_s16(vmlaq_lane_s16(vmulq_lane_s16(x[0], w, 0), x[1], w, 1), x[2], w, 2);
    return vaddhn_u16(vreinterpretq_u16_s16(sum), offset);
  }
};
inline void StoreHalves(uint8_t* u, uint8_t* v, uint8x8_t of_u, uint8x8_t of_v) {
  vst1_u8(u, of_u);
  vst1_u8(v, of_v);
}

// What the first and the third channel add to the brightness.
struct Hues {
  uint8x8_t first, third;
};
// What kBytes / 2 of them add to each channel; the second channel loses it.
struct Shifts {
  HalfWords of[3];
};
struct YuvVectors {
  uint8x16_t offset, gain;
  int16_t first, third, green_first, green_third;

  YuvVectors(const YuvToRgb& how, bool blue_first, bool)
      : offset(FillVector(static_cast<uint8_t>(how.y_offset))),
        gain(FillVector(static_cast<uint8_t>(how.y_gain))),
        first(blue_first ? how.b_u : how.r_v),
        third(blue_first ? how.r_v : how.b_u),
        green_first(blue_first ? how.g_u : how.g_v),
        green_third(blue_first ? how.g_v : how.g_u) {}

  LATHE_INLINE Words Levels(ByteVector y) const {
    y = vqsubq_u8(y, offset);
    return {vreinterpretq_s16_u16(vrshrq_n_u16(vmull_u8(vget_low_u8(y), vget_low_u8(gain)), 7)),
            vreinterpretq_s16_u16(vrshrq_n_u16(MulUpper(y, gain), 7))};
  }
  LATHE_INLINE Shifts Of(Hues hues) const {
    const uint8x8_t middle = vdup_n_u8(128);
    const int16x8_t x = vreinterpretq_s16_u16(vsubl_u8(hues.first, middle));
    const int16x8_t z = vreinterpretq_s16_u16(vsubl_u8(hues.third, middle));
    return {{vqdmulhq_n_s16(vshlq_n_s16(x, 7), first),
             vshrq_n_s16(vmlaq_n_s16(vmulq_n_s16(x, green_first), z, green_third), 7),
             vqdmulhq_n_s16(vshlq_n_s16(z, 7), third)}};
  }
};
// Of each pair, the second one is that of the first channel with `turned`.
inline Hues LoadHues(const uint8_t* pairs, bool turned) {
  const uint8x8x2_t x = vld2_u8(pairs);
  return turned ? Hues{x.val[1], x.val[0]} : Hues{x.val[0], x.val[1]};
}
inline Hues LoadHues(const uint8_t* first, const uint8_t* third) { return {vld1_u8(first), vld1_u8(third)}; }
inline void LoadYuyv(const uint8_t* from, bool turned, ByteVector* y, Hues* hues) {
  const uint8x16x2_t x = vld2q_u8(from);
  const uint8x8x2_t apart = vuzp_u8(vget_low_u8(x.val[1]), vget_high_u8(x.val[1]));
  *y = x.val[0];
  *hues = turned ? Hues{apart.val[1], apart.val[0]} : Hues{apart.val[0], apart.val[1]};
}
inline void LoadAllHues(const uint8_t* first, const uint8_t* third, Hues* low, Hues* high) {
  *low = LoadHues(first, third);
  *high = LoadHues(first + 8, third + 8);
}

struct Floats {
  float32x4_t low, high;
};
constexpr size_t kFloats = 8;
inline Floats LoadFloats(const float* from) { return {vld1q_f32(from), vld1q_f32(from + 4)}; }
inline void StoreFloats(float* to, Floats x) {
  vst1q_f32(to, x.low);
  vst1q_f32(to + 4, x.high);
}
inline Floats FillFloats(float x) { return {vdupq_n_f32(x), vdupq_n_f32(x)}; }
inline Floats FloatsOf(const uint8_t* from) {
  const uint16x8_t x = vmovl_u8(vld1_u8(from));
  return {vcvtq_f32_u32(vmovl_u16(vget_low_u16(x))), vcvtq_f32_u32(vmovl_u16(vget_high_u16(x)))};
}
inline Floats MulAdd(Floats a, Floats b, Floats c) {
  return {vfmaq_f32(c.low, a.low, b.low), vfmaq_f32(c.high, a.high, b.high)};
}
inline void StoreHalves(uint16_t* to, Floats x) {
  vst1_u16(to, vreinterpret_u16_f16(vcvt_f16_f32(x.low)));
  vst1_u16(to + 4, vreinterpret_u16_f16(vcvt_f16_f32(x.high)));
}
// Adding 1.5 * 2^23 rounds to the nearest, halves to even: armv7 has no instruction for it.
inline int32x4_t Rounded(float32x4_t x) {
  const float32x4_t large = vdupq_n_f32(12582912.0f);
  return vsubq_s32(vreinterpretq_s32_f32(vaddq_f32(x, large)), vreinterpretq_s32_f32(large));
}
inline void StoreRounded(uint8_t* to, Floats x, float low, float high) {
  const float32x4_t least = vdupq_n_f32(low), most = vdupq_n_f32(high);
  const int32x4_t a = Rounded(vminq_f32(vmaxq_f32(x.low, least), most));
  const int32x4_t b = Rounded(vminq_f32(vmaxq_f32(x.high, least), most));
  vst1_u8(to, vmovn_u16(vreinterpretq_u16_s16(vcombine_s16(vmovn_s32(a), vmovn_s32(b)))));
}

using Quad = float32x4_t;  // four floats
inline Quad LoadQuad(const float* from) { return vld1q_f32(from); }
inline Quad MulQuad(Quad x, float by) { return vmulq_n_f32(x, by); }
inline Quad MulAddQuad(Quad x, float by, Quad sum) { return vfmaq_f32(sum, x, vdupq_n_f32(by)); }
// Without the fraction, after `half` was added; from 0 on, 255 at most.
inline uint32_t BytesOf(Quad x, float half) {
  const uint16x4_t words = vqmovn_u32(vcvtq_u32_f32(vaddq_f32(x, vdupq_n_f32(half))));
  return vget_lane_u32(vreinterpret_u32_u8(vqmovn_u16(vcombine_u16(words, words))), 0);
}

}  // namespace
}  // namespace vision
}  // namespace lathe

#endif  // LATHE_VISION_WORDS_NEON_H_
