// Vectors of eight 16-bit integers and of four sums, on ARM. See words_portable.h for what there is.
#ifndef LATHE_KERNEL_SIMD_WORDS_NEON_H_
#define LATHE_KERNEL_SIMD_WORDS_NEON_H_

#include <arm_neon.h>
#include <stdint.h>

namespace lathe {
namespace {

constexpr int kWords = 8;
constexpr int kSums = 4;

struct Words {
  int16x8_t v;
};

struct Sums {
  int32x4_t v;
};

inline Words LoadBytes(const int8_t* from) { return {vmovl_s8(vld1_s8(from))}; }
inline void Store(int16_t* to, Words x) { vst1q_s16(to, x.v); }
inline Words Add(Words a, Words b) { return {vaddq_s16(a.v, b.v)}; }
inline Words Sub(Words a, Words b) { return {vsubq_s16(a.v, b.v)}; }

inline Sums LoadSums(const int32_t* from) { return {vld1q_s32(from)}; }
inline void Store(int32_t* to, Sums x) { vst1q_s32(to, x.v); }
inline Sums Add(Sums a, Sums b) { return {vaddq_s32(a.v, b.v)}; }
inline Sums Sub(Sums a, Sums b) { return {vsubq_s32(a.v, b.v)}; }
inline Sums Quarter(Sums x) { return {vshrq_n_s32(x.v, 2)}; }

#if defined(__aarch64__)
constexpr int kWordRows = 8;  // 16 sums, and what they are made of, in 32 registers
#else
constexpr int kWordRows = 4;
#endif

struct WordInputs {
  int16x4_t v;
};

struct WordFilters {
  int16x8x2_t v;  // the first of depth of 8 columns, and the second
};

inline WordInputs LoadInputs(const int16_t* from) { return {vld1_s16(from)}; }
inline WordFilters LoadFilters(const int16_t* from) { return {vld2q_s16(from)}; }

template <int lane>
inline int32x4_t MulAddHigh(int32x4_t sums, int16x8_t columns, int16x4_t x) {
#if defined(__aarch64__)
  return vmlal_high_lane_s16(sums, columns, x, lane);
#else
  return vmlal_lane_s16(sums, vget_high_s16(columns), x, lane);
#endif
}

template <int first>
inline void AddProducts(const WordFilters& w, const WordInputs& x, Sums (&sums)[2]) {
  sums[0].v = vmlal_lane_s16(sums[0].v, vget_low_s16(w.v.val[0]), x.v, first);
  sums[1].v = MulAddHigh<first>(sums[1].v, w.v.val[0], x.v);
  sums[0].v = vmlal_lane_s16(sums[0].v, vget_low_s16(w.v.val[1]), x.v, first + 1);
  sums[1].v = MulAddHigh<first + 1>(sums[1].v, w.v.val[1], x.v);
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SIMD_WORDS_NEON_H_
