/* Filters over what came before (SVDF), for any processor: what the filters give is kept with 16 bits, the newest last.
 */
#include "dot.h"

void lm_svdf_filters_s8(const int8_t* x, const int16_t* past, int16_t* kept, const lm_svdf* layer) {
  const uint32_t memory = layer->memory;
  for (uint32_t batch = 0; batch < layer->batches; ++batch, x += layer->in_c) {
    const int8_t* weights = layer->weights;
    for (uint32_t filter = 0; filter < layer->filters;
         ++filter, weights += layer->in_c, past += memory, kept += memory) {
      int32_t value = lm_dot_s8(x, weights, layer->in_c, layer->filter_biases[filter]);
      value = lm_scaled(value, layer->filtered.multiplier, layer->filtered.shift);
      for (uint32_t k = 1; k < memory; ++k) kept[k - 1] = past[k];
      kept[memory - 1] = (int16_t)(value < INT16_MIN ? INT16_MIN : value > INT16_MAX ? INT16_MAX : value);
    }
  }
}

void lm_svdf_times_s8(const int16_t* kept, int8_t* y, const lm_svdf* layer) {
  const uint32_t row = layer->memory * layer->rank, units = layer->filters / layer->rank;
  for (uint32_t batch = 0; batch < layer->batches; ++batch) {
    const int16_t* times = layer->times;
    for (uint32_t unit = 0; unit < units; ++unit, kept += row, times += row) {
      const int32_t sum = lm_dot_s16(kept, times, row, layer->biases[unit]);
      const int32_t value = lm_scaled(sum, layer->stored.multiplier, layer->stored.shift);
      *y++ = lm_clamped(value + layer->zero, -128, 127);
    }
  }
}
