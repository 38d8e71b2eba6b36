/* The innermost loops of the KPU in software: sums[p] += weight * in[p], for many pixels at once. */
#ifndef LATHE_KPU_TAPS_H_
#define LATHE_KPU_TAPS_H_

#include <stddef.h>
#include <stdint.h>

/* One tap of any weight. */
static inline void kpu_add_wide(uint32_t* sums, const uint8_t* in, uint32_t weight, uint32_t pixels) {
  for (uint32_t p = 0; p < pixels; ++p) sums[p] += weight * in[p];
}

/* A product of bytes: it fits into 16 bits, and vector units multiply such numbers best. */
static inline uint32_t kpu_product(uint8_t weight, uint8_t in) { return (uint16_t)((uint16_t)weight * (uint16_t)in); }

/* One tap of each of four channels. */
static inline void kpu_add_four(uint32_t* restrict sums, const uint8_t* restrict in, size_t channel_bytes,
                                const uint8_t* weights, uint32_t pixels) {
  const uint8_t* in1 = in + channel_bytes;
  const uint8_t* in2 = in1 + channel_bytes;
  const uint8_t* in3 = in2 + channel_bytes;
  const uint8_t w0 = weights[0], w1 = weights[1], w2 = weights[2], w3 = weights[3];
  for (uint32_t p = 0; p < pixels; ++p) {
    sums[p] += kpu_product(w0, in[p]) + kpu_product(w1, in1[p]) + kpu_product(w2, in2[p]) + kpu_product(w3, in3[p]);
  }
}

/* The nine taps of one channel, whose rows are `stride` apart. */
static inline void kpu_add_3x3(uint32_t* restrict sums, const uint8_t* restrict in, uint32_t stride,
                               const uint8_t* weights, uint32_t pixels) {
  for (uint32_t row = 0; row < 3; ++row, in += stride, weights += 3) {
    const uint8_t w0 = weights[0], w1 = weights[1], w2 = weights[2];
    for (uint32_t p = 0; p < pixels; ++p) {
      sums[p] += kpu_product(w0, in[p]) + kpu_product(w1, in[p + 1]) + kpu_product(w2, in[p + 2]);
    }
  }
}

#endif /* LATHE_KPU_TAPS_H_ */
