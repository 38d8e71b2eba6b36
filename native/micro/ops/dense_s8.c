/* Product of bytes with a matrix, for any processor: four outputs at a time. Weights: [outputs][inputs]. */
#include "fixed_point.h"

static void store(int32_t sum, int8_t* y, const lm_dense* layer, uint32_t channel) {
  sum = lm_scaled_once(sum, layer->scaling.pairs[2 * channel + 1], layer->scaling.shifts[channel]);
  *y = lm_clamped(sum + layer->bounds.out_zero, layer->bounds.low, layer->bounds.high);
}

static void four(const int8_t* x, int8_t* y, const lm_dense* layer, uint32_t channel) {
  const uint32_t size = layer->in_c;
  const int32_t* const pairs = layer->scaling.pairs + 2 * channel;
  const int8_t* a = layer->weights + (size_t)channel * size;
  const int8_t *b = a + size, *c = b + size, *d = c + size;
  int32_t sums[4] = {pairs[0], pairs[2], pairs[4], pairs[6]};
  for (const int8_t* const end = x + size; x < end; ++x) {
    sums[0] += *a++ * *x;
    sums[1] += *b++ * *x;
    sums[2] += *c++ * *x;
    sums[3] += *d++ * *x;
  }
  for (uint32_t k = 0; k < 4; ++k) store(sums[k], y + k, layer, channel + k);
}

void lm_dense_s8(const int8_t* x, int8_t* y, const lm_dense* layer) {
  for (uint32_t row = 0; row < layer->rows; ++row, x += layer->in_c, y += layer->out_c) {
    uint32_t channel = 0;
    for (; channel + 3 < layer->out_c; channel += 4) four(x, y + channel, layer, channel);
    for (; channel < layer->out_c; ++channel) {
      const int8_t* w = layer->weights + (size_t)channel * layer->in_c;
      int32_t sum = layer->scaling.pairs[2 * channel];
      for (uint32_t k = 0; k < layer->in_c; ++k) sum += w[k] * x[k];
      store(sum, y + channel, layer, channel);
    }
  }
}
