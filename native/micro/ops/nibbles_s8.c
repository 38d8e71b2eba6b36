/* Convolutions and products with matrices of bytes with weights of 4 bits: two rows of inputs at a time, so that each
 * weight is unpacked once for both. Weights: [channels][inputs], two a byte, the first in the lower half.
 */
#include "patch.h"

static void dot(const int8_t* first, const int8_t* second, const int8_t* weights, uint32_t depth, int32_t* sums) {
  int32_t a = sums[0], b = sums[1];
  uint32_t k = 0;
  for (; k + 1 < depth; k += 2, ++weights) {
    const int32_t low = (int32_t)(((uint32_t)(uint8_t)*weights & 15u) ^ 8u) - 8, high = *weights >> 4;
    a += low * first[k] + high * first[k + 1];
    b += low * second[k] + high * second[k + 1];
  }
  if (k < depth) {
    const int32_t low = (int32_t)(((uint32_t)(uint8_t)*weights & 15u) ^ 8u) - 8;
    a += low * first[k];
    b += low * second[k];
  }
  sums[0] = a, sums[1] = b;
}

static int8_t stored(int32_t sum, const lm_scaling* scaling, const lm_bounds* bounds, uint32_t channel, int once) {
  const int32_t multiplier = scaling->pairs[2 * channel + 1];
  const int shift = scaling->shifts[channel];
  sum = once ? lm_scaled_once(sum, multiplier, shift) : lm_scaled(sum, multiplier, shift);
  return lm_clamped(sum + bounds->out_zero, bounds->low, bounds->high);
}

void lm_conv_s4(const int8_t* x, int8_t* y, void* scratch, const lm_conv* layer) {
  const lm_image* image = &layer->image;
  const uint32_t depth = (uint32_t)image->kernel_h * image->kernel_w * image->in_c;
  const uint32_t count = (uint32_t)image->out_h * image->out_w, channels = image->out_c;
  int8_t *first = scratch, *second = first + depth;
  lm_place place = {0, 0};
  for (uint32_t i = 0; i < count; i += 2, y += 2 * channels) {
    const int both = i + 1 < count;
    lm_patch(x, first, image, place, layer->bounds.in_zero);
    lm_next(&place, image);
    if (both) {
      lm_patch(x, second, image, place, layer->bounds.in_zero);
      lm_next(&place, image);
    }
    const int8_t* weights = layer->weights;
    for (uint32_t channel = 0; channel < channels; ++channel, weights += (depth + 1) / 2) {
      const int32_t bias = layer->scaling.pairs[2 * channel];
      int32_t sums[] = {bias, bias};
      dot(first, both ? second : first, weights, depth, sums);
      y[channel] = stored(sums[0], &layer->scaling, &layer->bounds, channel, 0);
      if (both) y[channels + channel] = stored(sums[1], &layer->scaling, &layer->bounds, channel, 0);
    }
  }
}

void lm_dense_s4(const int8_t* x, int8_t* y, const lm_dense* layer) {
  const uint32_t depth = layer->in_c, channels = layer->out_c;
  for (uint32_t row = 0; row < layer->rows; row += 2, x += 2 * depth, y += 2 * channels) {
    const int both = row + 1 < layer->rows;
    const int8_t* weights = layer->weights;
    for (uint32_t channel = 0; channel < channels; ++channel, weights += (depth + 1) / 2) {
      const int32_t bias = layer->scaling.pairs[2 * channel];
      int32_t sums[] = {bias, bias};
      dot(x, both ? x + depth : x, weights, depth, sums);
      y[channel] = stored(sums[0], &layer->scaling, &layer->bounds, channel, 1);
      if (both) y[channels + channel] = stored(sums[1], &layer->scaling, &layer->bounds, channel, 1);
    }
  }
}
