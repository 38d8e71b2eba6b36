/* For AArch64, whose processors all have NEON. */
#include "vectors.h"

#if !defined(LATHE_KPU_PORTABLE) && defined(__aarch64__) && defined(__ARM_NEON)

#include <arm_neon.h>
#include <stddef.h>

static void interleave(uint8_t* to, const uint8_t* even, const uint8_t* odd, uint32_t count) {
  uint32_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const uint8x16x2_t both = {{vld1q_u8(even + i), vld1q_u8(odd + i)}};
    vst2q_u8(to + 2 * (size_t)i, both);
  }
  for (; i < count; ++i) {
    to[2 * (size_t)i] = even[i];
    to[2 * (size_t)i + 1] = odd[i];
  }
}

/* Bytes of both channels of a pair, eight pixels' worth of weights. */
static inline uint8x8_t both_weights(uint32_t weights) {
  return vreinterpret_u8_u16(vdup_n_u16((uint16_t)(weights | weights >> 8)));
}

static void multiply(const kpu_products* products, uint32_t* sums, uint32_t stride) {
  for (uint32_t p = 0; p < products->pixels; p += KPU_STEP) {
    uint32x4_t total[KPU_TOGETHER][4];
    for (uint32_t lane = 0; lane < KPU_TOGETHER; ++lane) {
      for (uint32_t i = 0; i < 4; ++i) total[lane][i] = vld1q_u32(sums + (size_t)lane * stride + p + 4 * i);
    }
    const uint32_t* weights = products->weights;
    const uint8_t* in = products->tile + 2 * (size_t)p;
    for (uint32_t pair = 0; pair < products->pairs; ++pair, in += products->pair_bytes) {
      for (uint32_t tap = 0; tap < products->taps; ++tap, weights += KPU_TOGETHER) {
        const uint8_t* at = in + 2 * (size_t)products->offsets[tap];
        const uint8x8_t x[4] = {vld1_u8(at), vld1_u8(at + 8), vld1_u8(at + 16), vld1_u8(at + 24)};
        for (uint32_t lane = 0; lane < KPU_TOGETHER; ++lane) {
          const uint8x8_t w = both_weights(weights[lane]);
          for (uint32_t i = 0; i < 4; ++i) total[lane][i] = vpadalq_u16(total[lane][i], vmull_u8(x[i], w));
        }
      }
    }
    for (uint32_t lane = 0; lane < KPU_TOGETHER; ++lane) {
      for (uint32_t i = 0; i < 4; ++i) vst1q_u32(sums + (size_t)lane * stride + p + 4 * i, total[lane][i]);
    }
  }
}

static void add_window(uint32_t* sums, const uint8_t* in, uint32_t stride, const int16_t* weights, uint32_t pixels) {
  for (uint32_t p = 0; p < pixels; p += 8, in += 8) {
    int32x4_t low = vreinterpretq_s32_u32(vld1q_u32(sums + p));
    int32x4_t high = vreinterpretq_s32_u32(vld1q_u32(sums + p + 4));
    for (uint32_t i = 0; i < 9; ++i) {
      const uint8x8_t bytes = vld1_u8(in + (size_t)(i / 3) * stride + i % 3);
      const int16x8_t x = vreinterpretq_s16_u16(vmovl_u8(bytes));
      low = vmlal_n_s16(low, vget_low_s16(x), weights[i]);
      high = vmlal_n_s16(high, vget_high_s16(x), weights[i]);
    }
    vst1q_u32(sums + p, vreinterpretq_u32_s32(low));
    vst1q_u32(sums + p + 4, vreinterpretq_u32_s32(high));
  }
}

/* Two bytes, as whole numbers of 64 bits. */
static inline uint64x2_t two(const kpu_finish* lane, uint32_t p) {
  float64x2_t value = vcvtq_f64_s64(vmovl_s32(vreinterpret_s32_u32(vld1_u32(lane->sums + p))));
  value = vaddq_f64(vaddq_f64(value, vld1q_f64(lane->pixel_terms + p)), vdupq_n_f64(lane->lane_term));
  value = vmulq_n_f64(vmulq_n_f64(value, lane->factor), lane->scale);
  value = vaddq_f64(vrndmq_f64(value), vdupq_n_f64(lane->addend));
  const kpu_piece* piece = lane->pieces;
  float64x2_t origin = vdupq_n_f64(piece->origin);
  float64x2_t slope = vdupq_n_f64(piece->slope);
  float64x2_t bias = vdupq_n_f64(piece->bias);
  for (uint32_t i = 1; i < lane->piece_count; ++i) {
    ++piece;
    const uint64x2_t is_here = vcleq_f64(vdupq_n_f64(piece->start), value);
    origin = vbslq_f64(is_here, vdupq_n_f64(piece->origin), origin);
    slope = vbslq_f64(is_here, vdupq_n_f64(piece->slope), slope);
    bias = vbslq_f64(is_here, vdupq_n_f64(piece->bias), bias);
  }
  value = vmulq_f64(vsubq_f64(value, origin), slope);
  value = vaddq_f64(vrndmq_f64(vaddq_f64(value, vdupq_n_f64(0.5))), bias);
  return vcvtq_u64_f64(vminq_f64(vmaxq_f64(value, vdupq_n_f64(0.0)), vdupq_n_f64(255.0)));
}

static void finish(const kpu_finish* lane) {
  for (uint32_t p = 0; p < lane->pixels; p += 8) {
    const uint32x4_t low = vcombine_u32(vmovn_u64(two(lane, p)), vmovn_u64(two(lane, p + 2)));
    const uint32x4_t high = vcombine_u32(vmovn_u64(two(lane, p + 4)), vmovn_u64(two(lane, p + 6)));
    vst1_u8(lane->results + p, vmovn_u16(vcombine_u16(vmovn_u32(low), vmovn_u32(high))));
  }
}

const kpu_vectors kpu_vectors_neon = {interleave, multiply, add_window, finish};

#else

typedef int kpu_no_neon; /* C wants a file to declare something */

#endif
