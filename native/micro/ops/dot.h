/* Sums of products that layers share. */
#ifndef LATHE_MICRO_OPS_DOT_H_
#define LATHE_MICRO_OPS_DOT_H_

#include <string.h>

#include "fixed_point.h"

/* Adds the products of x with four rows of weights to four sums, and returns the weights behind these rows. Rows are
 * packed for the instruction set (buildtool/targets/micro/packing), filled up with zeros: bytes behind x do not matter.
 */
#if LATHE_MICRO_MVE
static inline const int8_t* lm_dot4_s8(const int8_t* x, uint32_t size, const int8_t* weights, int32_t* sums) {
  int32_t a = sums[0], b = sums[1], c = sums[2], d = sums[3];
  for (const int8_t* end = x + size; x < end; x += 16, weights += 64) {
    const int8x16_t bytes = vldrbq_s8(x);
    a = vmladavaq_s8(a, bytes, vldrbq_s8(weights));
    b = vmladavaq_s8(b, bytes, vldrbq_s8(weights + 16));
    c = vmladavaq_s8(c, bytes, vldrbq_s8(weights + 32));
    d = vmladavaq_s8(d, bytes, vldrbq_s8(weights + 48));
  }
  sums[0] = a, sums[1] = b, sums[2] = c, sums[3] = d;
  return weights;
}
#elif LATHE_MICRO_DSP
/* The sums of four outputs += products of the bytes from x to `end`, eight a step. */
__attribute__((naked, noinline, unused)) static void lm_multiply4(int32_t* sums, const int8_t* weights, const int8_t* x,
                                                                  const int8_t* end) {
  (void)sums, (void)weights, (void)x, (void)end;
  __asm__ volatile(
      "push {r0, r3, r4-r11, lr}\n"
      "ldm r0, {r0, r3, r10, r11}\n"
      "1:\n"
      ".rept 2\n"
      "ldr r4, [r2], #4\n"
      "sxtb16 r5, r4\n"
      "sxtb16 r4, r4, ror #8\n"
      "ldm r1!, {r6-r9}\n"
      "sxtb16 r12, r6\n"
      "sxtb16 r6, r6, ror #8\n"
      "smlad r0, r12, r5, r0\n"
      "smlad r0, r6, r4, r0\n"
      "sxtb16 r12, r7\n"
      "sxtb16 r7, r7, ror #8\n"
      "smlad r3, r12, r5, r3\n"
      "smlad r3, r7, r4, r3\n"
      "sxtb16 r12, r8\n"
      "sxtb16 r8, r8, ror #8\n"
      "smlad r10, r12, r5, r10\n"
      "smlad r10, r8, r4, r10\n"
      "sxtb16 r12, r9\n"
      "sxtb16 r9, r9, ror #8\n"
      "smlad r11, r12, r5, r11\n"
      "smlad r11, r9, r4, r11\n"
      ".endr\n"
      "ldr r12, [sp, #4]\n"
      "cmp r2, r12\n"
      "bcc 1b\n"
      "ldr r4, [sp]\n"
      "stm r4, {r0, r3, r10, r11}\n"
      "pop {r0, r3, r4-r11, pc}\n");
}

static inline const int8_t* lm_dot4_s8(const int8_t* x, uint32_t size, const int8_t* weights, int32_t* sums) {
  lm_multiply4(sums, weights, x, x + size);
  return weights + 4 * ((size + 7) / 8 * 8);
}
#else
static inline const int8_t* lm_dot4_s8(const int8_t* x, uint32_t size, const int8_t* weights, int32_t* sums) {
  const int8_t *const a = weights, *const b = a + size, *const c = b + size, *const d = c + size;
  int32_t s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
  for (uint32_t k = 0; k < size; ++k) {
    const int32_t value = x[k];
    s0 += value * a[k], s1 += value * b[k], s2 += value * c[k], s3 += value * d[k];
  }
  sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
  return d + size;
}
#endif

/* The sum of the products of a row as it is, which begins with `sum`. What is behind it is not read. */
static inline int32_t lm_dot_s8(const int8_t* x, const int8_t* weights, uint32_t size, int32_t sum) {
  uint32_t k = 0;
#if LATHE_MICRO_MVE
  for (; k < size; k += 16) {
    const mve_pred16_t some = vctp8q(size - k);
    sum = vmladavaq_s8(sum, vldrbq_z_s8(x + k, some), vldrbq_z_s8(weights + k, some));
  }
#elif LATHE_MICRO_DSP
  for (; k + 4 <= size; k += 4) {
    uint32_t bytes, row;
    memcpy(&bytes, x + k, 4);
    memcpy(&row, weights + k, 4);
    sum = lm_smlad(lm_odd_bytes(bytes), lm_odd_bytes(row), lm_smlad(lm_even_bytes(bytes), lm_even_bytes(row), sum));
  }
#endif
  for (; k < size; ++k) sum += (int32_t)x[k] * weights[k];
  return sum;
}

/* Numbers of 16 bits with weights of 8: 256 products fit 32 bits. */
static inline int64_t lm_dot_s16_s8(const int16_t* x, const int8_t* weights, uint32_t size) {
  int64_t sum = 0;
  while (size != 0) {
    const uint32_t some = size < 256 ? size : 256;
    int32_t part = 0;
    uint32_t k = 0;
#if LATHE_MICRO_MVE
    for (; k < some; k += 8) {
      const mve_pred16_t lanes = vctp16q(some - k);
      part = vmladavaq_s16(part, vldrhq_z_s16(x + k, lanes), vldrbq_z_s16(weights + k, lanes));
    }
#elif LATHE_MICRO_DSP
    for (; k + 4 <= some; k += 4) {
      uint32_t one, two, row;
      memcpy(&one, x + k, 4);
      memcpy(&two, x + k + 2, 4);
      memcpy(&row, weights + k, 4);
      part = lm_smlad((one & 0xFFFFu) | (two << 16), lm_even_bytes(row), part);
      part = lm_smlad((one >> 16) | (two & 0xFFFF0000u), lm_odd_bytes(row), part);
    }
#endif
    for (; k < some; ++k) part += (int32_t)x[k] * weights[k];
    sum += part, x += some, weights += some, size -= some;
  }
  return sum;
}

#if LATHE_MICRO_DSP && !LATHE_MICRO_MVE
/* sums[0..3] = products of the numbers from x to `end`, four a step, with rows of weights. */
__attribute__((naked, noinline, unused)) static void lm_multiply4_s16(int32_t* sums, const int16_t* x,
                                                                      const int16_t* end, const int8_t* weights,
                                                                      uint32_t pitch) {
  (void)sums, (void)x, (void)end, (void)weights, (void)pitch;
  __asm__ volatile(
      "push {r0, r4-r11, lr}\n"
      "ldr r12, [sp, #40]\n"
      "add lr, r3, r12, lsl #1\n"
      "mov r4, #0\n"
      "mov r5, #0\n"
      "mov r6, #0\n"
      "mov r7, #0\n"
      "1:\n"
      "ldr r8, [r1], #4\n"
      "ldr r9, [r1], #4\n"
      "pkhbt r10, r8, r9, lsl #16\n"
      "pkhtb r9, r9, r8, asr #16\n"
      "ldr r8, [r3, r12]\n"
      "sxtb16 r11, r8\n"
      "sxtb16 r8, r8, ror #8\n"
      "smlad r5, r11, r10, r5\n"
      "smlad r5, r8, r9, r5\n"
      "ldr r8, [r3], #4\n"
      "sxtb16 r11, r8\n"
      "sxtb16 r8, r8, ror #8\n"
      "smlad r4, r11, r10, r4\n"
      "smlad r4, r8, r9, r4\n"
      "ldr r8, [lr, r12]\n"
      "sxtb16 r11, r8\n"
      "sxtb16 r8, r8, ror #8\n"
      "smlad r7, r11, r10, r7\n"
      "smlad r7, r8, r9, r7\n"
      "ldr r8, [lr], #4\n"
      "sxtb16 r11, r8\n"
      "sxtb16 r8, r8, ror #8\n"
      "smlad r6, r11, r10, r6\n"
      "smlad r6, r8, r9, r6\n"
      "cmp r1, r2\n"
      "bcc 1b\n"
      "ldr r0, [sp]\n"
      "stm r0, {r4-r7}\n"
      "pop {r0, r4-r11, pc}\n");
}
#endif

/* The same for four rows of weights, `pitch` bytes apart, which are added to four sums. */
static inline void lm_dot4_s16_s8(const int16_t* x, const int8_t* weights, uint32_t pitch, uint32_t size,
                                  int64_t* sums) {
  while (size != 0) {
    const uint32_t some = size < 256 ? size : 256;
    const int8_t *const w1 = weights + pitch, *const w2 = w1 + pitch, *const w3 = w2 + pitch;
    int32_t a = 0, b = 0, c = 0, d = 0;
    uint32_t k = 0;
#if LATHE_MICRO_MVE
    for (; k < some; k += 8) {
      const mve_pred16_t lanes = vctp16q(some - k);
      const int16x8_t numbers = vldrhq_z_s16(x + k, lanes);
      a = vmladavaq_s16(a, numbers, vldrbq_z_s16(weights + k, lanes));
      b = vmladavaq_s16(b, numbers, vldrbq_z_s16(w1 + k, lanes));
      c = vmladavaq_s16(c, numbers, vldrbq_z_s16(w2 + k, lanes));
      d = vmladavaq_s16(d, numbers, vldrbq_z_s16(w3 + k, lanes));
    }
#elif LATHE_MICRO_DSP
    k = some / 4 * 4;
    if (k != 0) {
      int32_t parts[4];
      lm_multiply4_s16(parts, x, x + k, weights, pitch);
      a = parts[0], b = parts[1], c = parts[2], d = parts[3];
    }
#endif
    for (; k < some; ++k) {
      const int32_t value = x[k];
      a += value * weights[k], b += value * w1[k], c += value * w2[k], d += value * w3[k];
    }
    sums[0] += a, sums[1] += b, sums[2] += c, sums[3] += d;
    x += some, weights += some, size -= some;
  }
}

/* The same of 16 bits; sums wrap. */
static inline int32_t lm_dot_s16(const int16_t* x, const int16_t* weights, uint32_t size, int32_t sum) {
  uint32_t k = 0;
#if LATHE_MICRO_MVE
  for (; k < size; k += 8) {
    const mve_pred16_t some = vctp16q(size - k);
    sum = vmladavaq_s16(sum, vldrhq_z_s16(x + k, some), vldrhq_z_s16(weights + k, some));
  }
#elif LATHE_MICRO_DSP
  for (; k + 2 <= size; k += 2) {
    uint32_t pair, row;
    memcpy(&pair, x + k, 4);
    memcpy(&row, weights + k, 4);
    sum = lm_smlad(pair, row, sum);
  }
#endif
  for (; k < size; ++k) sum = (int32_t)((uint32_t)sum + (uint32_t)((int32_t)x[k] * weights[k]));
  return sum;
}

#endif /* LATHE_MICRO_OPS_DOT_H_ */
