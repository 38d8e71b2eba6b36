// Vectors of four floats, on ARM with NEON and fused multiply-add (armv8, and armv7 with VFPv4). With
// LATHE_WIDEN_HALVES their elements are halves in memory. See vector_portable.h for what every such header offers.
#ifndef LATHE_KERNEL_SIMD_VECTOR_NEON_H_
#define LATHE_KERNEL_SIMD_VECTOR_NEON_H_

#include <arm_neon.h>
#include <stdint.h>

namespace lathe {
namespace {

#if defined(LATHE_WIDEN_HALVES)
using Element = float16_t;  // in memory: for what needs to be computed more exactly than in halves
#else
using Element = float;
#endif

struct Vec {
  float32x4_t v;
};

constexpr int kLanes = 4;
#if defined(__aarch64__)
constexpr int kVectorRegisters = 32;
#else
constexpr int kVectorRegisters = 16;
#endif

inline Vec Load(const float* from) { return {vld1q_f32(from)}; }
inline Vec LoadPart(const float* from, int count) {
  float32x4_t x = vdupq_n_f32(0.0f);
  if (count == 4) return Load(from);
  if (count > 0) x = vld1q_lane_f32(from, x, 0);
  if (count > 1) x = vld1q_lane_f32(from + 1, x, 1);
  if (count > 2) x = vld1q_lane_f32(from + 2, x, 2);
  return {x};
}
inline void Store(float* to, Vec x) { vst1q_f32(to, x.v); }
inline void StorePart(float* to, Vec x, int count) {
  if (count == 4) return Store(to, x);
  if (count > 0) vst1q_lane_f32(to, x.v, 0);
  if (count > 1) vst1q_lane_f32(to + 1, x.v, 1);
  if (count > 2) vst1q_lane_f32(to + 2, x.v, 2);
}
inline Vec Fill(float x) { return {vdupq_n_f32(x)}; }
inline Vec Add(Vec a, Vec b) { return {vaddq_f32(a.v, b.v)}; }
inline Vec Sub(Vec a, Vec b) { return {vsubq_f32(a.v, b.v)}; }
inline Vec Mul(Vec a, Vec b) { return {vmulq_f32(a.v, b.v)}; }
inline Vec MulAdd(Vec a, Vec b, Vec c) { return {vfmaq_f32(c.v, a.v, b.v)}; }
inline Vec AtLeast(Vec x, Vec low) { return {vmaxq_f32(x.v, low.v)}; }
inline Vec AtMost(Vec x, Vec high) { return {vminq_f32(x.v, high.v)}; }

struct Mask {
  uint32x4_t v;
};

inline Vec Abs(Vec x) { return {vabsq_f32(x.v)}; }
inline Vec WithSign(Vec size, Vec sign) { return {vbslq_f32(vdupq_n_u32(0x80000000u), sign.v, size.v)}; }
inline Vec WithExponent(Vec x) { return {vreinterpretq_f32_u32(vshlq_n_u32(vreinterpretq_u32_f32(x.v), 23))}; }
inline Vec TimesPowerOfTwo(Vec x, Vec n) {
  const int32x4_t whole = vcvtq_s32_f32(n.v);
  const int32x4_t half = vshrq_n_s32(whole, 1);
  const int32x4_t bias = vdupq_n_s32(127);
  const int32x4_t first = vshlq_n_s32(vaddq_s32(half, bias), 23);
  const int32x4_t second = vshlq_n_s32(vaddq_s32(vsubq_s32(whole, half), bias), 23);
  return {vmulq_f32(vmulq_f32(x.v, vreinterpretq_f32_s32(first)), vreinterpretq_f32_s32(second))};
}
inline Mask Less(Vec a, Vec b) { return {vcltq_f32(a.v, b.v)}; }
inline Vec Choose(Mask mask, Vec a, Vec b) { return {vbslq_f32(mask.v, a.v, b.v)}; }
inline Vec Larger(Vec a, Vec b) { return {vmaxq_f32(a.v, b.v)}; }
inline Vec Smaller(Vec a, Vec b) { return {vminq_f32(a.v, b.v)}; }
inline Vec Part(Vec x, int count) {
  const int32x4_t lanes = {0, 1, 2, 3};
  const uint32x4_t kept = vcltq_s32(lanes, vdupq_n_s32(count));
  return {vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(x.v), kept))};
}
inline float SumLanes(Vec x) {
  const float32x2_t two = vadd_f32(vget_low_f32(x.v), vget_high_f32(x.v));
  return vget_lane_f32(vpadd_f32(two, two), 0);
}
inline void StoreSums(float* to, Vec a, Vec b, Vec c, Vec d) {
#if defined(__aarch64__)
  vst1q_f32(to, vpaddq_f32(vpaddq_f32(a.v, b.v), vpaddq_f32(c.v, d.v)));
#else
  const auto two = [](Vec x) { return vadd_f32(vget_low_f32(x.v), vget_high_f32(x.v)); };
  vst1q_f32(to, vcombine_f32(vpadd_f32(two(a), two(b)), vpadd_f32(two(c), two(d))));
#endif
}
inline Vec SwapPairs(Vec x) { return {vrev64q_f32(x.v)}; }
inline float MaxLanes(Vec x) {
  const float32x2_t two = vmax_f32(vget_low_f32(x.v), vget_high_f32(x.v));
  return vget_lane_f32(vpmax_f32(two, two), 0);
}

#if defined(LATHE_WIDEN_HALVES)
inline Vec Load(const Element* from) { return {vcvt_f32_f16(vld1_f16(from))}; }
inline Vec LoadPart(const Element* from, int count) {
  if (count == 4) return Load(from);
  float16x4_t x = vdup_n_f16(0);
  if (count > 0) x = vld1_lane_f16(from, x, 0);
  if (count > 1) x = vld1_lane_f16(from + 1, x, 1);
  if (count > 2) x = vld1_lane_f16(from + 2, x, 2);
  return {vcvt_f32_f16(x)};
}
inline void Store(Element* to, Vec x) { vst1_f16(to, vcvt_f16_f32(x.v)); }
inline void StorePart(Element* to, Vec x, int count) {
  if (count == 4) return Store(to, x);
  const float16x4_t halves = vcvt_f16_f32(x.v);
  if (count > 0) vst1_lane_f16(to, halves, 0);
  if (count > 1) vst1_lane_f16(to + 1, halves, 1);
  if (count > 2) vst1_lane_f16(to + 2, halves, 2);
}
#endif

#if defined(__aarch64__)
inline Vec Div(Vec a, Vec b) { return {vdivq_f32(a.v, b.v)}; }
#else
// By two steps of Newton's from an estimate: the machine divides single floats only.
inline Vec Div(Vec a, Vec b) {
  float32x4_t reciprocal = vrecpeq_f32(b.v);
  reciprocal = vmulq_f32(reciprocal, vrecpsq_f32(b.v, reciprocal));
  reciprocal = vmulq_f32(reciprocal, vrecpsq_f32(b.v, reciprocal));
  return {vmulq_f32(a.v, reciprocal)};
}
#endif

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SIMD_VECTOR_NEON_H_
