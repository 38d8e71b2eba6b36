/* Convolution of bytes for any processor: two places of the output at a time, two channels of each.
 * Weights: [channels][rows][columns][input channels].
 */
#include <string.h>

#include "fixed_point.h"
#include "patch.h"

/* The results of one channel at one or two places. */
static inline void store(const int32_t* sums, int both, int8_t* y, const lm_conv* layer, uint32_t channel) {
  const int32_t multiplier = layer->scaling.pairs[2 * channel + 1], zero = layer->bounds.out_zero;
  const int32_t low = layer->bounds.low, high = layer->bounds.high;
  const int shift = layer->scaling.shifts[channel];
  y += channel;
  *y = lm_clamped(lm_scaled(sums[0], multiplier, shift) + zero, low, high);
  if (both) y[layer->image.out_c] = lm_clamped(lm_scaled(sums[1], multiplier, shift) + zero, low, high);
}

/* One or two places: y[0] and, where `both`, y[out_c]. */
static void block(const int8_t* first, const int8_t* second, int8_t* y, const lm_conv* layer, uint32_t depth,
                  int both) {
  const uint32_t channels = layer->image.out_c;
  const int8_t* w = layer->weights;
  const int32_t* pairs = layer->scaling.pairs;
  uint32_t channel = 0;
  for (; channel + 1 < channels; channel += 2) {
    const int8_t* v = w + depth;
    int32_t a0 = pairs[2 * channel], a1 = a0, b0 = pairs[2 * channel + 2], b1 = b0;
#pragma GCC unroll 4
    for (uint32_t k = 0; k < depth; ++k) {
      const int32_t x0 = first[k], x1 = second[k];
      a0 += w[k] * x0;
      a1 += w[k] * x1;
      b0 += v[k] * x0;
      b1 += v[k] * x1;
    }
    w = v + depth;
    const int32_t a[] = {a0, a1}, b[] = {b0, b1};
    store(a, both, y, layer, channel);
    store(b, both, y, layer, channel + 1);
  }
  if (channel == channels) return;
  int32_t a0 = pairs[2 * channel], a1 = a0;
  for (uint32_t k = 0; k < depth; ++k) {
    a0 += w[k] * first[k];
    a1 += w[k] * second[k];
  }
  const int32_t a[] = {a0, a1};
  store(a, both, y, layer, channel);
}

void lm_conv_s8(const int8_t* x, int8_t* y, void* scratch, const lm_conv* layer) {
  const lm_image* image = &layer->image;
  const uint32_t depth = (uint32_t)image->kernel_h * image->kernel_w * image->in_c;
  const uint32_t count = (uint32_t)image->out_h * image->out_w;
  int8_t *first = scratch, *second = first + depth;
  lm_place place = {0, 0};
  for (uint32_t i = 0; i < count; i += 2) {
    const int both = i + 1 < count;
    lm_patch(x, first, image, place, layer->bounds.in_zero);
    lm_next(&place, image);
    if (both) {
      lm_patch(x, second, image, place, layer->bounds.in_zero);
      lm_next(&place, image);
    }
    block(first, second, y, layer, depth, both);
    y += 2 * (uint32_t)image->out_c;
  }
}
