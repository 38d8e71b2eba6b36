/* Convolutions and products with matrices of bytes with weights of 4 bits, with MVE.
 *
 * Sixteen bytes contain sixteen weights of one channel in their lower halves, and of the next one in their upper
 * halves. As upper halves with zeros below they are 16 times what they mean; so are the sums, until they are complete.
 */
#include "fixed_point.h"
#include "patch.h"

enum { kPlaces = 4, kStep = 16, kOutputs = 4, kFraction = 4 };

/* sums[0..3] = 16 * channel 0 at the places x, x + pitch, ..., sums[4..7] = 16 * channel 1. */
static inline void multiply(int32_t* sums, const int8_t* weights, const int8_t* x, uint32_t pitch, uint32_t steps) {
  const int8x16_t mask = vdupq_n_s8((int8_t)0xF0);
  int32_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
  for (const int8_t* end = weights + steps * kStep; weights < end; weights += kStep, x += kStep) {
    const int8x16_t both = vldrbq_s8(weights), low = vshlq_n_s8(both, kFraction), high = vandq_s8(both, mask);
    int8x16_t bytes = vldrbq_s8(x);
    a = vmladavaq_s8(a, bytes, low), e = vmladavaq_s8(e, bytes, high);
    bytes = vldrbq_s8(x + pitch);
    b = vmladavaq_s8(b, bytes, low), f = vmladavaq_s8(f, bytes, high);
    bytes = vldrbq_s8(x + 2 * pitch);
    c = vmladavaq_s8(c, bytes, low), g = vmladavaq_s8(g, bytes, high);
    bytes = vldrbq_s8(x + 3 * pitch);
    d = vmladavaq_s8(d, bytes, low), h = vmladavaq_s8(h, bytes, high);
  }
  sums[0] = a, sums[1] = b, sums[2] = c, sums[3] = d, sums[4] = e, sums[5] = f, sums[6] = g, sums[7] = h;
}

/* The results of one channel at up to four places. */
static inline void store(const int32_t* sums, int8_t* y, const lm_conv* layer, uint32_t channel, uint32x4_t offsets,
                         mve_pred16_t places) {
  const int32_t bias = layer->scaling.pairs[2 * channel], multiplier = layer->scaling.pairs[2 * channel + 1];
  int32x4_t values = vaddq_n_s32(vshrq_n_s32(vldrwq_s32(sums), kFraction), bias);
  values = lm_scaled_vector(values, multiplier, layer->scaling.shifts[channel]);
  values = vaddq_n_s32(values, layer->bounds.out_zero);
  values = vmaxq_s32(values, vdupq_n_s32(layer->bounds.low));
  values = vminq_s32(values, vdupq_n_s32(layer->bounds.high));
  vstrbq_scatter_offset_p_s32(y, offsets, values, places);
}

void lm_conv_s4(const int8_t* x, int8_t* y, void* scratch, const lm_conv* layer) {
  const lm_image* image = &layer->image;
  const uint32_t depth = (uint32_t)image->kernel_h * image->kernel_w * image->in_c, channels = image->out_c;
  const uint32_t steps = (depth + kStep - 1) / kStep, pitch = (steps + 1) * kStep;
  const uint32_t count = (uint32_t)image->out_h * image->out_w;
  const uint32x4_t offsets = vmulq_n_u32(vidupq_n_u32(0, 1), channels);
  int8_t* const patches = scratch;
  lm_place place = {0, 0};
  for (uint32_t i = 0; i < count; i += kPlaces, y += kPlaces * channels) {
    const uint32_t places = count - i < kPlaces ? count - i : kPlaces;
    const mve_pred16_t valid = vctp32q(places);
    for (uint32_t p = 0; p < places; ++p) {
      lm_patch(x, patches + p * pitch, image, place, layer->bounds.in_zero);
      lm_next(&place, image);
    }
    const int8_t* weights = layer->weights;
    for (uint32_t channel = 0; channel < channels; channel += 2, weights += kStep * steps) {
      int32_t sums[2 * kPlaces];
      multiply(sums, weights, patches, pitch, steps);
      store(sums, y + channel, layer, channel, offsets, valid);
      if (channel + 1 < channels) store(sums + kPlaces, y + channel + 1, layer, channel + 1, offsets, valid);
    }
  }
}

void lm_dense_s4(const int8_t* x, int8_t* y, const lm_dense* layer) {
  const int32_t* const pairs = layer->scaling.pairs;
  const int8x16_t mask = vdupq_n_s8((int8_t)0xF0);
  for (uint32_t row = 0; row < layer->rows; ++row, x += layer->in_c) {
    const int8_t* weights = layer->weights;
    for (uint32_t channel = 0; channel < layer->out_c; channel += kOutputs) {
      const uint32_t left = layer->out_c - channel, outputs = left < kOutputs ? left : kOutputs;
      int32_t a = 0, b = 0, c = 0, d = 0;
      for (uint32_t k = 0; k < layer->in_c; k += kStep, weights += 2 * kStep) {
        const int8x16_t bytes = vldrbq_s8(x + k), one = vldrbq_s8(weights), two = vldrbq_s8(weights + kStep);
        a = vmladavaq_s8(a, bytes, vshlq_n_s8(one, kFraction));
        b = vmladavaq_s8(b, bytes, vandq_s8(one, mask));
        c = vmladavaq_s8(c, bytes, vshlq_n_s8(two, kFraction));
        d = vmladavaq_s8(d, bytes, vandq_s8(two, mask));
      }
      const int32_t sums[kOutputs] = {a, b, c, d};
      for (uint32_t k = 0; k < outputs; ++k) {
        const uint32_t at = channel + k;
        const int32_t sum = (sums[k] >> kFraction) + pairs[2 * at];
        const int32_t value = lm_scaled_once(sum, pairs[2 * at + 1], layer->scaling.shifts[at]);
        *y++ = lm_clamped(value + layer->bounds.out_zero, layer->bounds.low, layer->bounds.high);
      }
    }
  }
}
