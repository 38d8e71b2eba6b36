/* Product of bytes with a matrix with the DSP extension: four outputs at a time.
 * Weights: for each four outputs, four bytes of each in turns; outputs and inputs are padded to multiples of four.
 */
#include <string.h>

#include "fixed_point.h"

enum { kOutputs = 4 };

static inline int32_t product(const int8_t* weights, uint32_t even, uint32_t odd, int32_t sum) {
  uint32_t bytes;
  memcpy(&bytes, weights, 4);
  return lm_smlad(lm_odd_bytes(bytes), odd, lm_smlad(lm_even_bytes(bytes), even, sum));
}

static const int8_t* multiply(const int8_t* x, uint32_t size, const int8_t* weights, int32_t* sums) {
  int32_t a = sums[0], b = sums[1], c = sums[2], d = sums[3];
  for (const int8_t* end = x + size; x < end; x += 4, weights += 4 * kOutputs) {
    uint32_t bytes;
    memcpy(&bytes, x, 4);
    const uint32_t even = lm_even_bytes(bytes), odd = lm_odd_bytes(bytes);
    a = product(weights, even, odd, a);
    b = product(weights + 4, even, odd, b);
    c = product(weights + 8, even, odd, c);
    d = product(weights + 12, even, odd, d);
  }
  sums[0] = a, sums[1] = b, sums[2] = c, sums[3] = d;
  return weights;
}

void lm_dense_s8(const int8_t* x, int8_t* y, const lm_dense* layer) {
  const int32_t* const pairs = layer->scaling.pairs;
  for (uint32_t row = 0; row < layer->rows; ++row, x += layer->in_c) {
    const int8_t* weights = layer->weights;
    for (uint32_t channel = 0; channel < layer->out_c; channel += kOutputs) {
      int32_t sums[kOutputs];
      const uint32_t left = layer->out_c - channel, outputs = left < kOutputs ? left : kOutputs;
      for (uint32_t k = 0; k < kOutputs; ++k) sums[k] = k < outputs ? pairs[2 * (channel + k)] : 0;
      weights = multiply(x, layer->in_c, weights, sums);
      for (uint32_t k = 0; k < outputs; ++k) {
        const uint32_t at = channel + k;
        const int32_t value = lm_scaled_once(sums[k], pairs[2 * at + 1], layer->scaling.shifts[at]);
        *y++ = lm_clamped(value + layer->bounds.out_zero, layer->bounds.low, layer->bounds.high);
      }
    }
  }
}
