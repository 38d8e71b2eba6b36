/* Convolutions and products with matrices of bytes with weights of 4 bits, with the DSP extension.
 *
 * A word contains eight weights: in the upper halves of its bytes, and in the lower ones, four each. As upper halves
 * with zeros below they are 16 times what they mean, as bytes that SXTB16 takes; so are the sums, until they are
 * complete.
 */
#include "places.h"

enum { kOutputs = 4, kFraction = 4 };

/* sums[0..3] += 16 * channel 0 at the four places, sums[4..7] += 16 * channel 1; eight bytes of each place a step. The
 * lower halves of a word of weights are a pair (k, k + 2) of both channels, the upper ones the pair (k + 1, k + 3). */
__attribute__((naked, noinline)) static void multiply(int32_t* sums, const int8_t* weights, const uint32_t* x,
                                                      const uint32_t* end) {
  (void)sums, (void)weights, (void)x, (void)end;
  __asm__ volatile(
      "push {r0, r3, r4-r11, lr}\n"
      "ldm r0, {r5-r12}\n"
      "1:\n"
      ".rept 2\n"
      "ldr r3, [r1]\n"
      "lsl r3, r3, #4\n"
      ".rept 2\n"
      "and r3, r3, #0xF0F0F0F0\n"
      "sxtb16 r0, r3\n"
      "sxtb16 r3, r3, ror #8\n"
      "ldrd r4, lr, [r2], #8\n"
      "smlad r5, r0, r4, r5\n"
      "smlad r9, r3, r4, r9\n"
      "smlad r6, r0, lr, r6\n"
      "smlad r10, r3, lr, r10\n"
      "ldrd r4, lr, [r2], #8\n"
      "smlad r7, r0, r4, r7\n"
      "smlad r11, r3, r4, r11\n"
      "smlad r8, r0, lr, r8\n"
      "smlad r12, r3, lr, r12\n"
      "ldr r3, [r1]\n"
      ".endr\n"
      "add r1, r1, #4\n"
      ".endr\n"
      "ldr r0, [sp, #4]\n"
      "cmp r2, r0\n"
      "bne 1b\n"
      "ldr r0, [sp]\n"
      "stm r0, {r5-r12}\n"
      "pop {r0, r3, r4-r11, pc}\n");
}

static inline void complete(int32_t* sums, int32_t bias) {
  for (uint32_t p = 0; p < kPlaces; ++p) sums[p] = (sums[p] >> kFraction) + bias;
}

void lm_conv_s4(const int8_t* x, int8_t* y, void* scratch, const lm_conv* layer) {
  const lm_image* image = &layer->image;
  const uint32_t row = ((uint32_t)image->kernel_w * image->in_c + 3) / 4 * 4,
                 depth = (row * image->kernel_h + 7) / 8 * 8;
  const uint32_t count = (uint32_t)image->out_h * image->out_w, channels = image->out_c;
  uint32_t *numbers = scratch, *end = numbers + depth / 2 * kPlaces;
  lm_place place = {0, 0};
  for (uint32_t i = 0; i < count; i += kPlaces, y += kPlaces * channels) {
    const uint32_t places = count - i < kPlaces ? count - i : kPlaces;
    for (uint32_t p = 0; p < places; ++p) {
      gather(x, numbers + p, (int8_t*)end, layer, place);
      lm_next(&place, image);
    }
    const int8_t* weights = layer->weights;
    const int32_t* pairs = layer->scaling.pairs;
    for (uint32_t channel = 0; channel < channels; channel += 2, weights += depth, pairs += 4) {
      int32_t sums[2 * kPlaces] = {0};
      multiply(sums, weights, numbers, end);
      complete(sums, pairs[0]);
      store(sums, y + channel, layer, channel, places);
      if (channel + 1 == channels) break;
      complete(sums + kPlaces, pairs[2]);
      store(sums + kPlaces, y + channel + 1, layer, channel + 1, places);
    }
  }
}

/* Of four outputs a word of weights each in turns: the lower halves are for four bytes of x, the upper ones for the
 * next four. */
static inline const int8_t* dot4(const int8_t* x, uint32_t size, const int8_t* weights, int32_t* sums) {
  const uint32_t mask = 0xF0F0F0F0u;
  int32_t a = 0, b = 0, c = 0, d = 0;
  for (const int8_t* end = x + size; x < end; x += 8, weights += 16) {
    uint32_t bytes[2], words[kOutputs];
    memcpy(bytes, x, 8);
    memcpy(words, weights, 16);
    const uint32_t e = lm_even_bytes(bytes[0]), o = lm_odd_bytes(bytes[0]);
    const uint32_t f = lm_even_bytes(bytes[1]), p = lm_odd_bytes(bytes[1]);
#define LM_ADDED(sum, word)                                                                                 \
  sum = lm_smlad(e, lm_even_bytes((word << 4) & mask), lm_smlad(o, lm_odd_bytes((word << 4) & mask), sum)), \
  sum = lm_smlad(f, lm_even_bytes(word & mask), lm_smlad(p, lm_odd_bytes(word & mask), sum))
    LM_ADDED(a, words[0]);
    LM_ADDED(b, words[1]);
    LM_ADDED(c, words[2]);
    LM_ADDED(d, words[3]);
#undef LM_ADDED
  }
  sums[0] = a, sums[1] = b, sums[2] = c, sums[3] = d;
  return weights;
}

void lm_dense_s4(const int8_t* x, int8_t* y, const lm_dense* layer) {
  const int32_t* const pairs = layer->scaling.pairs;
  for (uint32_t row = 0; row < layer->rows; ++row, x += layer->in_c) {
    const int8_t* weights = layer->weights;
    for (uint32_t channel = 0; channel < layer->out_c; channel += kOutputs) {
      int32_t sums[kOutputs];
      const uint32_t left = layer->out_c - channel, outputs = left < kOutputs ? left : kOutputs;
      weights = dot4(x, layer->in_c, weights, sums);
      for (uint32_t k = 0; k < outputs; ++k) {
        const uint32_t at = channel + k;
        const int32_t sum = (sums[k] >> kFraction) + pairs[2 * at];
        const int32_t value = lm_scaled_once(sum, pairs[2 * at + 1], layer->scaling.shifts[at]);
        *y++ = lm_clamped(value + layer->bounds.out_zero, layer->bounds.low, layer->bounds.high);
      }
    }
  }
}
