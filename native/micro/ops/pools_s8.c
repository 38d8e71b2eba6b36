/* Pools of bytes, for any processor. */
#include "fixed_point.h"
#include "pool_window.h"

void lm_max_pool_s8(const int8_t* x, int8_t* y, const lm_pool* layer) {
  const lm_image* image = &layer->image;
  const uint32_t channels = image->in_c;
  const int32_t low = layer->bounds.low, high = layer->bounds.high;
  for (uint32_t row = 0; row < image->out_h; ++row)
    for (uint32_t column = 0; column < image->out_w; ++column) {
      const lm_pool_window w = lm_inside(image, row, column);
      const uint32_t across = (uint32_t)(w.right - w.left) * channels, pitch = image->in_w * channels;
      const int8_t* from = x + ((uint32_t)w.top * image->in_w + (uint32_t)w.left) * channels;
      for (uint32_t channel = 0; channel < channels; ++channel, ++from) {
        int32_t largest = low;
        const int8_t* line = from;
        if (w.bottom - w.top == 2 && across == 2 * channels) { /* the usual window */
          const int32_t a = line[0], b = line[channels], c = line[pitch], d = line[pitch + channels];
          const int32_t e = a > b ? a : b, f = c > d ? c : d, g = e > f ? e : f;
          largest = g > low ? g : low;
          *y++ = (int8_t)(largest > high ? high : largest);
          continue;
        }
        for (int32_t i = w.top; i < w.bottom; ++i, line += pitch)
          for (uint32_t j = 0; j < across; j += channels)
            if (line[j] > largest) largest = line[j];
        *y++ = (int8_t)(largest > high ? high : largest);
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
