// Vectors of four floats, on ARM with NEON and fused multiply-add (armv8, and armv7 with VFPv4). See vector_portable.h
// for what every such header offers.
#ifndef LATHE_CORE_VECTOR_NEON_H_
#define LATHE_CORE_VECTOR_NEON_H_

#include <arm_neon.h>
#include <stdint.h>

namespace lathe {
namespace {

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

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_VECTOR_NEON_H_
