// Vectors of 8 words of 16 bits, on ARM with NEON (armv8, and armv7 with VFPv4). See words_portable.h for what every
// such header offers.
#ifndef LATHE_VISION_WORDS_NEON_H_
#define LATHE_VISION_WORDS_NEON_H_

#include <arm_neon.h>
#include <stdint.h>
#include <string.h>

namespace lathe {
namespace vision {
namespace {

struct Words {
  int16x8_t v;
};
constexpr size_t kWords = 8;
using ByteVector = uint8x8_t;

inline Words Widen(ByteVector x) { return {vreinterpretq_s16_u16(vmovl_u8(x))}; }
inline ByteVector Narrow(Words x) { return vqmovun_s16(x.v); }
inline ByteVector LoadVector(const uint8_t* from) { return vld1_u8(from); }
inline void StoreVector(uint8_t* to, ByteVector x) { vst1_u8(to, x); }
inline ByteVector FillVector(uint8_t x) { return vdup_n_u8(x); }
inline ByteVector Reversed(ByteVector x) { return vrev64_u8(x); }

inline Words Fill(int x) { return {vdupq_n_s16(static_cast<int16_t>(x))}; }
inline Words LoadWords(const int16_t* from) { return {vld1q_s16(from)}; }
inline void StoreWords(int16_t* to, Words x) { vst1q_s16(to, x.v); }
inline Words LoadBytes(const uint8_t* from) { return Widen(vld1_u8(from)); }
inline void StoreBytes(uint8_t* to, Words x) { vst1_u8(to, Narrow(x)); }
inline Words Add(Words a, Words b) { return {vaddq_s16(a.v, b.v)}; }
inline Words Sub(Words a, Words b) { return {vsubq_s16(a.v, b.v)}; }
inline Words SubtractToZero(Words a, Words b) {
  return {vreinterpretq_s16_u16(vqsubq_u16(vreinterpretq_u16_s16(a.v), vreinterpretq_u16_s16(b.v)))};
}
inline Words Mul(Words a, Words b) { return {vmulq_s16(a.v, b.v)}; }
inline Words MulShift8(Words small, Words b) { return {vqdmulhq_s16(vshlq_n_s16(small.v, 7), b.v)}; }
inline Words MulRound15(Words a, Words b) { return {vqrdmulhq_s16(a.v, b.v)}; }
template <int n>
inline Words Left(Words x) {
  return {vshlq_n_s16(x.v, n)};
}
template <int n>
inline Words Right(Words x) {
  return {vshrq_n_s16(x.v, n)};
}
template <int n>
inline Words RightUnsigned(Words x) {
  return {vreinterpretq_s16_u16(vshrq_n_u16(vreinterpretq_u16_s16(x.v), n))};
}
inline Words PairSums(Words a, Words b) {
  return {
      vcombine_s16(vpadd_s16(vget_low_s16(a.v), vget_high_s16(a.v)), vpadd_s16(vget_low_s16(b.v), vget_high_s16(b.v)))};
}

inline void LoadPairs(const uint8_t* from, Words* a, Words* b) {
  const uint8x8_t x = vld1_u8(from);
  const uint8x8x2_t apart = vuzp_u8(x, x);
  *a = Widen(vzip_u8(apart.val[0], apart.val[0]).val[0]);
  *b = Widen(vzip_u8(apart.val[1], apart.val[1]).val[0]);
}
inline Words LoadHalves(const uint8_t* from) {
  uint32_t four;
  memcpy(&four, from, 4);
  const uint8x8_t x = vreinterpret_u8_u32(vdup_n_u32(four));
  return Widen(vzip_u8(x, x).val[0]);
}
inline void LoadYuyv(const uint8_t* from, Words* y, Words* u, Words* v) {
  const uint8x8x2_t x = vld2_u8(from);
  *y = Widen(x.val[0]);
  const uint8x8x2_t apart = vuzp_u8(x.val[1], x.val[1]);
  *u = Widen(vzip_u8(apart.val[0], apart.val[0]).val[0]);
  *v = Widen(vzip_u8(apart.val[1], apart.val[1]).val[0]);
}
inline void Load2(const uint8_t* from, ByteVector* a, ByteVector* b) {
  const uint8x8x2_t x = vld2_u8(from);
  *a = x.val[0], *b = x.val[1];
}
inline void Load3(const uint8_t* from, ByteVector* a, ByteVector* b, ByteVector* c) {
  const uint8x8x3_t x = vld3_u8(from);
  *a = x.val[0], *b = x.val[1], *c = x.val[2];
}
inline void Load4(const uint8_t* from, ByteVector* a, ByteVector* b, ByteVector* c, ByteVector* d) {
  const uint8x8x4_t x = vld4_u8(from);
  *a = x.val[0], *b = x.val[1], *c = x.val[2], *d = x.val[3];
}
inline void Store2(uint8_t* to, ByteVector a, ByteVector b) {
  const uint8x8x2_t x = {{a, b}};
  vst2_u8(to, x);
}
inline void Store3(uint8_t* to, ByteVector a, ByteVector b, ByteVector c) {
  const uint8x8x3_t x = {{a, b, c}};
  vst3_u8(to, x);
}
inline void Store4(uint8_t* to, ByteVector a, ByteVector b, ByteVector c, ByteVector d) {
  const uint8x8x4_t x = {{a, b, c, d}};
  vst4_u8(to, x);
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

}  // namespace
}  // namespace vision
}  // namespace lathe

#endif  // LATHE_VISION_WORDS_NEON_H_
