/* Pools of bytes, for any processor. */
#include "fixed_point.h"
#include "pool_window.h"

void lm_max_pool_s8(const int8_t* x, int8_t* y, const lm_pool* layer) {
  const lm_image* image = &layer->image;
  const uint32_t channels = image->in_c;
  for (uint32_t row = 0; row < image->out_h; ++row)
    for (uint32_t column = 0; column < image->out_w; ++column, y += channels) {
      const lm_pool_window w = lm_inside(image, row, column);
      for (uint32_t channel = 0; channel < channels; ++channel) {
        int32_t largest = -128;
        for (int32_t i = w.top; i < w.bottom; ++i)
          for (int32_t j = w.left; j < w.right; ++j) {
            const int32_t value = x[((uint32_t)i * image->in_w + (uint32_t)j) * channels + channel];
            if (value > largest) largest = value;
          }
        y[channel] = lm_clamped(largest, layer->bounds.low, layer->bounds.high);
      }
    }
}

void lm_average_pool_s8(const int8_t* x, int8_t* y, const lm_pool* layer) {
  const lm_image* image = &layer->image;
  const uint32_t channels = image->in_c;
  for (uint32_t row = 0; row < image->out_h; ++row)
    for (uint32_t column = 0; column < image->out_w; ++column, y += channels) {
      const lm_pool_window w = lm_inside(image, row, column);
      const int32_t count = (w.bottom - w.top) * (w.right - w.left);
      for (uint32_t channel = 0; channel < channels; ++channel) {
        int32_t sum = 0;
        for (int32_t i = w.top; i < w.bottom; ++i) {
          const int8_t* from = x + ((uint32_t)i * image->in_w + (uint32_t)w.left) * channels + channel;
          for (int32_t j = w.left; j < w.right; ++j, from += channels) sum += *from;
        }
        y[channel] = lm_clamped(lm_average(sum, count), layer->bounds.low, layer->bounds.high);
      }
    }
}
