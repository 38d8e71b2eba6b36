/* Fixed-point arithmetic that kernels share: the roundings of LiteRT's integer kernels. */
#ifndef LATHE_MICRO_OPS_FIXED_POINT_H_
#define LATHE_MICRO_OPS_FIXED_POINT_H_

#include <stdint.h>

#include "lathe_micro.h"
#include "lathe_micro_config.h"

#if LATHE_MICRO_MVE
#include <arm_mve.h>
#endif

/* Twice the product, its upper half, rounded. */
static inline int32_t lm_high_product(int32_t a, int32_t b) {
  return (int32_t)(((int64_t)a * b + ((int64_t)1 << 30)) >> 31);
}

/* Divided by 2^shift, half away from zero. */
static inline int32_t lm_shifted_right(int32_t value, int shift) {
  if (shift == 0) return value;
  return (value + ((int32_t)1 << (shift - 1)) + (value >> 31)) >> shift;
}

static inline int32_t lm_shifted_left(int32_t value, int shift) { return (int32_t)((uint32_t)value << shift); }

/* Times multiplier * 2^(shift - 31), rounded twice. */
static inline int32_t lm_scaled(int32_t value, int32_t multiplier, int shift) {
  if (shift > 0) return lm_high_product(lm_shifted_left(value, shift), multiplier);
  return lm_shifted_right(lm_high_product(value, multiplier), -shift);
}

/* The same, rounded once. */
static inline int32_t lm_scaled_once(int32_t value, int32_t multiplier, int shift) {
  const int64_t product = (int64_t)value * multiplier;
  if (shift < -1) return ((int32_t)(product >> 32) + ((int32_t)1 << (-shift - 2))) >> (-shift - 1);
  return (int32_t)((product + ((int64_t)1 << (30 - shift))) >> (31 - shift));
}

/* A factor below 1 for a byte that is shifted to the left, as a sum needs it: first `left`, then the product, then
 * `right`, which is at least 1. A half, which the larger scale of a sum has, needs no rounding and may be shifted more.
 */
typedef struct lm_term {
  int32_t multiplier;
  int left, right;
} lm_term;

/* Whether a factor can be such a term. */
static inline int lm_has_term(lm_factor factor) {
  return factor.shift < 0 || (factor.shift == 0 && factor.multiplier == (int32_t)1 << 30);
}

static inline lm_term lm_term_of(lm_factor factor) {
  const int exact = factor.shift == 0;
  const lm_term term = {factor.multiplier, exact ? 21 : 20, exact ? 1 : -factor.shift};
  return term;
}

static inline int8_t lm_clamped(int32_t value, int32_t low, int32_t high) {
  if (value < low) value = low;
  if (value > high) value = high;
  return (int8_t)value;
}

static inline int32_t lm_saturated(int64_t value) {
  return (int32_t)(value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : value);
}

/* Rounded, half upwards, and limited to 32 bits. Words are shifted one by one, where that can be. */
static inline int32_t lm_rounded_right(int64_t value, int right) {
  if (right < 1 || right > 31) return lm_saturated((value + ((int64_t)1 << (right - 1))) >> right);
  value += (int64_t)((uint32_t)1 << (right - 1));
  const int32_t high = (int32_t)(value >> 32);
  if ((high >> (right - 1)) != (high >> 31)) return high < 0 ? INT32_MIN : INT32_MAX;
  return (int32_t)(((uint32_t)high << (32 - right)) | ((uint32_t)value >> right));
}

/* Times multiplier * 2^(shift - 15), rounded once; the multiplier has 15 bits, the value at most 47. */
static inline int32_t lm_scaled_wide(int64_t value, int32_t multiplier, int shift) {
  return lm_rounded_right(value * multiplier, 15 - shift);
}

/* The same with a multiplier of 31 bits: of the product the last 16 do not matter. */
static inline int32_t lm_scaled_exactly(int64_t value, int32_t multiplier, int shift) {
  const int64_t low = ((value & 0xFFFF) * multiplier) >> 16;
  return lm_rounded_right((value >> 16) * multiplier + low, 15 - shift);
}

static inline int16_t lm_clamped16(int32_t value, int32_t low, int32_t high) {
  if (value < low) value = low;
  if (value > high) value = high;
  return (int16_t)value;
}

#if LATHE_MICRO_DSP
static inline int32_t lm_smmulr(int32_t a, int32_t b) {
  int32_t result;
  __asm__("smmulr %0, %1, %2" : "=r"(result) : "r"(a), "r"(b));
  return result;
}
/* Bytes 0 and 2, and bytes 1 and 3, as numbers of 16 bits. */
static inline uint32_t lm_even_bytes(uint32_t bytes) {
  uint32_t result;
  __asm__("sxtb16 %0, %1" : "=r"(result) : "r"(bytes));
  return result;
}
static inline uint32_t lm_odd_bytes(uint32_t bytes) {
  uint32_t result;
  __asm__("sxtb16 %0, %1, ror #8" : "=r"(result) : "r"(bytes));
  return result;
}
/* What is added to shifts of channels whose sums may have more than 30 bits: these take 64-bit products. */
enum { kLmWide = 64 };

/* Sums of one channel as bytes, `pitch` bytes apart. `doubled`: the sums are twice as large, unless they are wide. */
static inline void lm_store_sums(const int32_t* sums, int8_t* y, uint32_t count, int32_t multiplier, int shift,
                                 const lm_bounds* bounds, uint32_t pitch, int doubled) {
  const int32_t zero = bounds->out_zero, low = bounds->low, high = bounds->high;
  const int32_t* const end = sums + count;
  const int once = doubled ? 0 : 1;
  if (shift < 0 && shift > -16 && low == -128 && high == 127) {
    const int right = -shift;
    const int32_t offset = ((int32_t)1 << (right - 1)) + lm_shifted_left(zero, right);
#pragma GCC unroll 2
    for (; sums < end; ++sums, y += pitch) {
      int32_t value = lm_smmulr(lm_shifted_left(*sums, once), multiplier);
      value = (value + (value >> 31) + offset) >> right;
      __asm__("ssat %0, #8, %1" : "=r"(value) : "r"(value));
      *y = (int8_t)value;
    }
    return;
  }
  for (; sums < end; ++sums, y += pitch) {
    int32_t value;
    if (shift >= kLmWide / 2)
      value = lm_scaled(*sums, multiplier, shift - kLmWide);
    else if (shift > 0)
      value = lm_smmulr(lm_shifted_left(*sums, once + shift), multiplier);
    else
      value = lm_shifted_right(lm_smmulr(lm_shifted_left(*sums, once), multiplier), -shift);
    *y = lm_clamped(value + zero, low, high);
  }
}

static inline int32_t lm_smlad(uint32_t a, uint32_t b, int32_t sum) {
  int32_t result;
  __asm__("smlad %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  return result;
}
#endif

#if LATHE_MICRO_MVE
/* lm_scaled for four numbers, with one factor. */
static inline int32x4_t lm_scaled_vector(int32x4_t values, int32_t multiplier, int shift) {
  if (shift > 0) return vqrdmulhq_n_s32(vshlq_r_s32(values, shift), multiplier);
  values = vqrdmulhq_n_s32(values, multiplier);
  if (shift == 0) return values;
  values = vaddq_s32(values, vshrq_n_s32(values, 31));
  return vrshlq_n_s32(values, shift);
}
#endif

#endif /* LATHE_MICRO_OPS_FIXED_POINT_H_ */
