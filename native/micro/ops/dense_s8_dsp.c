/* Product of bytes with a matrix with the DSP extension: four outputs at a time.
 * Weights: for each four outputs, four bytes of each in turns; outputs are padded to a multiple of
 * four, inputs to one of eight with zeros, so that what is read behind a row of the input does not matter.
 */
#include "dot.h"

enum { kOutputs = 4 };

void lm_dense_s8(const int8_t* x, int8_t* y, const lm_dense* layer) {
  const int32_t* const pairs = layer->scaling.pairs;
  for (uint32_t row = 0; row < layer->rows; ++row, x += layer->in_c) {
    const int8_t* weights = layer->weights;
    for (uint32_t channel = 0; channel < layer->out_c; channel += kOutputs) {
      int32_t sums[kOutputs];
      const uint32_t left = layer->out_c - channel, outputs = left < kOutputs ? left : kOutputs;
      for (uint32_t k = 0; k < kOutputs; ++k) sums[k] = k < outputs ? pairs[2 * (channel + k)] : 0;
      weights = lm_dot4_s8(x, layer->in_c, weights, sums);
      for (uint32_t k = 0; k < outputs; ++k) {
        const uint32_t at = channel + k;
        const int32_t value = lm_scaled_once(sums[k], pairs[2 * at + 1], layer->scaling.shifts[at]);
        *y++ = lm_clamped(value + layer->bounds.out_zero, layer->bounds.low, layer->bounds.high);
      }
    }
  }
}
