/* Convolution of bytes with the DSP extension: four places of the output at a time, two channels of each.
 *
 * Patches are expanded to 16 bits, the four places in turns: pairs of bytes (k, k + 2), then (k + 1, k + 3), as SXTB16
 * gives them. A word of weights contains such a pair of both channels. Each row of a patch is padded to a multiple of
 * four bytes, and the whole to one of eight, with weights of zero, so what is read behind it does not matter.
 */
#include "places.h"

/* sums[0..3] += channel 0 at the four places, sums[4..7] += channel 1;
 * eight bytes of each place a
 * step. */
__attribute__((naked, noinline)) static void multiply(int32_t* sums, const int8_t* weights, const uint32_t* x,
                                                      const uint32_t* end) {
  (void)sums, (void)weights, (void)x, (void)end;
  __asm__ volatile(
      "push {r0, r3, r4-r11, lr}\n"
      "ldm r0, {r5-r12}\n"
      "1:\n"
      ".rept 4\n"
      "ldr r3, [r1], #4\n"
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
      ".endr\n"
      "ldr r0, [sp, #4]\n"
      "cmp r2, r0\n"
      "bne 1b\n"
      "ldr r0, [sp]\n"
      "stm r0, {r5-r12}\n"
      "pop {r0, r3, r4-r11, pc}\n");
}

void lm_conv_s8(const int8_t* x, int8_t* y, void* scratch, const lm_conv* layer) {
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
    for (uint32_t channel = 0; channel < channels; channel += 2, weights += 2 * depth, pairs += 4) {
      int32_t sums[2 * kPlaces];
      const int two = channel + 1 < channels;
      sums[0] = sums[1] = sums[2] = sums[3] = pairs[0];
      sums[4] = sums[5] = sums[6] = sums[7] = two ? pairs[2] : 0;
      multiply(sums, weights, numbers, end);
      store(sums, y + channel, layer, channel, places);
      if (two) store(sums + kPlaces, y + channel + 1, layer, channel + 1, places);
    }
  }
}
