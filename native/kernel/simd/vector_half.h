// Vectors of four floats whose elements are halves in memory, on 64-bit ARM: for what needs to be computed more exactly
// than in halves. See vector_portable.h for what every such header offers.
#ifndef LATHE_KERNEL_SIMD_VECTOR_HALF_H_
#define LATHE_KERNEL_SIMD_VECTOR_HALF_H_

#include <arm_neon.h>

#define LATHE_ELEMENT float16_t
#include "native/kernel/simd/vector_neon.h"

namespace lathe {
namespace {

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

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SIMD_VECTOR_HALF_H_
