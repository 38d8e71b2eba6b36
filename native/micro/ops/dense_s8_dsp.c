/* Product of bytes with a matrix with the DSP extension: four outputs at a time.
 * Weights: for each four outputs, four bytes of each in turns; outputs are padded to a multiple of
 * four, inputs to one of eight with zeros, so that what is read behind a row of the input does not matter.
 */
#include "fixed_point.h"

enum { kOutputs = 4 };

/* The sums of four outputs += products of the bytes from x to `end`, eight a step. */
__attribute__((naked, noinline)) static void multiply(int32_t* sums, const int8_t* weights, const int8_t* x,
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

void lm_dense_s8(const int8_t* x, int8_t* y, const lm_dense* layer) {
  const int32_t* const pairs = layer->scaling.pairs;
  for (uint32_t row = 0; row < layer->rows; ++row, x += layer->in_c) {
    const int8_t* weights = layer->weights;
    for (uint32_t channel = 0; channel < layer->out_c; channel += kOutputs) {
      int32_t sums[kOutputs];
      const uint32_t left = layer->out_c - channel, outputs = left < kOutputs ? left : kOutputs;
      for (uint32_t k = 0; k < kOutputs; ++k) sums[k] = k < outputs ? pairs[2 * (channel + k)] : 0;
      multiply(sums, weights, x, x + layer->in_c);
      weights += kOutputs * ((layer->in_c + 7u) / 8 * 8);
      for (uint32_t k = 0; k < outputs; ++k) {
        const uint32_t at = channel + k;
        const int32_t value = lm_scaled_once(sums[k], pairs[2 * at + 1], layer->scaling.shifts[at]);
        *y++ = lm_clamped(value + layer->bounds.out_zero, layer->bounds.low, layer->bounds.high);
      }
    }
  }
}
