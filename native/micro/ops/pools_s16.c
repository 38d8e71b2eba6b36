/* Pools of numbers of 16 bits. */
#include "fixed_point.h"
#include "pool_window.h"

void lm_max_pool_s16(const int16_t* x, int16_t* y, const lm_pool16* layer) {
  const lm_image* image = &layer->image;
  for (uint32_t row = 0; row < image->out_h; ++row)
    for (uint32_t column = 0; column < image->out_w; ++column) {
      const lm_pool_window w = lm_inside(image, row, column);
      for (int32_t channel = 0; channel < image->in_c; ++channel) {
        int32_t largest = layer->limits.low;
        for (int32_t i = w.top; i < w.bottom; ++i)
          for (int32_t j = w.left; j < w.right; ++j) {
            const int32_t value = x[(i * image->in_w + j) * image->in_c + channel];
            if (value > largest) largest = value;
          }
        *y++ = lm_clamped16(largest, layer->limits.low, layer->limits.high);
      }
    }
}

void lm_average_pool_s16(const int16_t* x, int16_t* y, const lm_pool16* layer) {
  const lm_image* image = &layer->image;
  for (uint32_t row = 0; row < image->out_h; ++row)
    for (uint32_t column = 0; column < image->out_w; ++column) {
      const lm_pool_window w = lm_inside(image, row, column);
      const int32_t count = (w.bottom - w.top) * (w.right - w.left);
      for (int32_t channel = 0; channel < image->in_c; ++channel) {
        int32_t sum = 0;
        for (int32_t i = w.top; i < w.bottom; ++i)
          for (int32_t j = w.left; j < w.right; ++j) sum += x[(i * image->in_w + j) * image->in_c + channel];
        *y++ = lm_clamped16(lm_average(sum, count), layer->limits.low, layer->limits.high);
      }
    }
}
