/* Convolution of bytes for any processor: two places of the output at a time, two channels of each.
 * Weights: [channels][rows][columns][input channels].
 */
#include <string.h>

#include "fixed_point.h"
#include "patch.h"

static void store(int32_t sum, int8_t* y, const lm_conv* layer, uint32_t channel) {
  const int32_t value = lm_scaled(sum, layer->scaling.pairs[2 * channel + 1], layer->scaling.shifts[channel]);
  *y = lm_clamped(value + layer->bounds.out_zero, layer->bounds.low, layer->bounds.high);
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
    for (uint32_t k = 0; k < depth; ++k) {
      const int32_t x0 = first[k], x1 = second[k];
      a0 += w[k] * x0;
      a1 += w[k] * x1;
      b0 += v[k] * x0;
      b1 += v[k] * x1;
    }
    w = v + depth;
    store(a0, y + channel, layer, channel);
    store(b0, y + channel + 1, layer, channel + 1);
    if (!both) continue;
    store(a1, y + channels + channel, layer, channel);
    store(b1, y + channels + channel + 1, layer, channel + 1);
  }
  if (channel == channels) return;
  int32_t a0 = pairs[2 * channel], a1 = a0;
  for (uint32_t k = 0; k < depth; ++k) {
    a0 += w[k] * first[k];
    a1 += w[k] * second[k];
  }
  store(a0, y + channel, layer, channel);
  if (both) store(a1, y + channels + channel, layer, channel);
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
