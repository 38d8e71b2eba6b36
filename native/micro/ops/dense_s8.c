/* Product of bytes with a matrix, for any processor. Weights: [outputs][inputs]. */
#include "fixed_point.h"

void lm_dense_s8(const int8_t* x, int8_t* y, const lm_dense* layer) {
  for (uint32_t row = 0; row < layer->rows; ++row, x += layer->in_c) {
    const int8_t* w = layer->weights;
    for (uint32_t channel = 0; channel < layer->out_c; ++channel, ++y) {
      int32_t sum = layer->scaling.pairs[2 * channel];
      for (uint32_t k = 0; k < layer->in_c; ++k) sum += w[k] * x[k];
      w += layer->in_c;
      sum = lm_scaled_once(sum, layer->scaling.pairs[2 * channel + 1], layer->scaling.shifts[channel]);
      *y = lm_clamped(sum + layer->bounds.out_zero, layer->bounds.low, layer->bounds.high);
    }
  }
}
