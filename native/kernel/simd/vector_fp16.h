// Vectors of eight halves, on 64-bit ARM that computes with them (armv8.2 and later). See vector_portable.h for what
// every such header offers; this one has nothing that only elementary functions need, which are computed with floats:
// vector_neon.h.
#ifndef LATHE_KERNEL_SIMD_VECTOR_FP16_H_
#define LATHE_KERNEL_SIMD_VECTOR_FP16_H_

#include <arm_neon.h>
#include <stdint.h>

#define LATHE_HALVES  // elements are halves, in memory and in registers

namespace lathe {
namespace {

using Element = float16_t;

struct Vec {
  float16x8_t v;
};

constexpr int kLanes = 8;
constexpr int kVectorRegisters = 32;

inline Vec Load(const Element* from) { return {vld1q_f16(from)}; }
inline Vec LoadPart(const Element* from, int count) {
  if (count == kLanes) return Load(from);
  const uint16x8_t zero = vdupq_n_u16(0);
  uint16x8_t x = zero;
  const uint16_t* end = reinterpret_cast<const uint16_t*>(from) + count;
  if ((count & 1) != 0) x = vld1q_lane_u16(end -= 1, x, 0);
  if ((count & 2) != 0) {
    x = vextq_u16(zero, x, 6);
    x = vld1q_lane_u16(end -= 1, x, 1);
    x = vld1q_lane_u16(end -= 1, x, 0);
  }
  if ((count & 4) != 0) x = vcombine_u16(vld1_u16(end - 4), vget_low_u16(x));
  return {vreinterpretq_f16_u16(x)};
}
inline void Store(Element* to, Vec x) { vst1q_f16(to, x.v); }
inline void StorePart(Element* to, Vec x, int count) {
  if (count == kLanes) return Store(to, x);
  float16x8_t left = x.v;
  if ((count & 4) != 0) {
    vst1_f16(to, vget_low_f16(left));
    left = vextq_f16(left, left, 4);
    to += 4;
  }
  if ((count & 2) != 0) {
    vst1q_lane_f16(to, left, 0);
    vst1q_lane_f16(to + 1, left, 1);
    left = vextq_f16(left, left, 2);
    to += 2;
  }
  if ((count & 1) != 0) vst1q_lane_f16(to, left, 0);
}
inline Vec Fill(float x) { return {vdupq_n_f16(static_cast<Element>(x))}; }
inline Vec Add(Vec a, Vec b) { return {vaddq_f16(a.v, b.v)}; }
inline Vec Sub(Vec a, Vec b) { return {vsubq_f16(a.v, b.v)}; }
inline Vec Mul(Vec a, Vec b) { return {vmulq_f16(a.v, b.v)}; }
inline Vec MulAdd(Vec a, Vec b, Vec c) { return {vfmaq_f16(c.v, a.v, b.v)}; }
inline Vec Div(Vec a, Vec b) { return {vdivq_f16(a.v, b.v)}; }
inline Vec AtLeast(Vec x, Vec low) { return {vmaxq_f16(x.v, low.v)}; }
inline Vec AtMost(Vec x, Vec high) { return {vminq_f16(x.v, high.v)}; }

struct Mask {
  uint16x8_t v;
};

inline Vec Abs(Vec x) { return {vabsq_f16(x.v)}; }
inline Mask Less(Vec a, Vec b) { return {vcltq_f16(a.v, b.v)}; }
inline Vec Choose(Mask mask, Vec a, Vec b) { return {vbslq_f16(mask.v, a.v, b.v)}; }
inline Vec Larger(Vec a, Vec b) { return {vmaxq_f16(a.v, b.v)}; }
inline Vec Smaller(Vec a, Vec b) { return {vminq_f16(a.v, b.v)}; }

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SIMD_VECTOR_FP16_H_
