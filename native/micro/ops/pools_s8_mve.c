/* Pools of bytes with MVE: sixteen channels at a time for the largest, eight for the mean. */
#include "fixed_point.h"
#include "pool_window.h"

/* x: the first byte of the window in the first of these channels. */
static int8x16_t largest(const int8_t* x, const lm_image* image, lm_pool_window w) {
  int8x16_t found = vdupq_n_s8(-128);
  for (int32_t i = w.top; i < w.bottom; ++i, x += (uint32_t)image->in_w * image->in_c) {
    const int8_t* from = x;
    for (int32_t j = w.left; j < w.right; ++j, from += image->in_c) found = vmaxq_s8(found, vldrbq_s8(from));
  }
  return found;
}

void lm_max_pool_s8(const int8_t* x, int8_t* y, const lm_pool* layer) {
  const lm_image* image = &layer->image;
  const int8x16_t low = vdupq_n_s8(layer->bounds.low), high = vdupq_n_s8(layer->bounds.high);
  for (uint32_t row = 0; row < image->out_h; ++row)
    for (uint32_t column = 0; column < image->out_w; ++column, y += image->in_c) {
      const lm_pool_window w = lm_inside(image, row, column);
      const int8_t* from = x + ((uint32_t)w.top * image->in_w + (uint32_t)w.left) * image->in_c;
      for (int32_t left = image->in_c, at = 0; left > 0; left -= 16, at += 16) {
        const int8x16_t found = largest(from + at, image, w);
        vstrbq_p_s8(y + at, vminq_s8(vmaxq_s8(found, low), high), vctp8q((uint32_t)left));
      }
    }
}

/* Eight channels of a window of up to 256 bytes. */
static int16x8_t total(const int8_t* x, const lm_image* image, lm_pool_window w) {
  int16x8_t sum = vdupq_n_s16(0);
  for (int32_t i = w.top; i < w.bottom; ++i, x += (uint32_t)image->in_w * image->in_c) {
    const int8_t* from = x;
    for (int32_t j = w.left; j < w.right; ++j, from += image->in_c) sum = vaddq_s16(sum, vldrbq_s16(from));
  }
  return sum;
}

static int32_t total_of_one(const int8_t* x, const lm_image* image, lm_pool_window w) {
  int32_t sum = 0;
  for (int32_t i = w.top; i < w.bottom; ++i, x += (uint32_t)image->in_w * image->in_c)
    for (int32_t j = 0; j < w.right - w.left; ++j) sum += x[(uint32_t)j * image->in_c];
  return sum;
}

void lm_average_pool_s8(const int8_t* x, int8_t* y, const lm_pool* layer) {
  const lm_image* image = &layer->image;
  for (uint32_t row = 0; row < image->out_h; ++row)
    for (uint32_t column = 0; column < image->out_w; ++column, y += image->in_c) {
      const lm_pool_window w = lm_inside(image, row, column);
      const int32_t count = (w.bottom - w.top) * (w.right - w.left);
      const int8_t* from = x + ((uint32_t)w.top * image->in_w + (uint32_t)w.left) * image->in_c;
      for (uint32_t at = 0; at < image->in_c; at += 8) {
        int16_t sums[8];
        const uint32_t channels = image->in_c - at < 8 ? image->in_c - at : 8;
        if (count <= 255) vstrhq_s16(sums, total(from + at, image, w));
        for (uint32_t k = 0; k < channels; ++k) {
          const int32_t sum = count <= 255 ? sums[k] : total_of_one(from + at + k, image, w);
          y[at + k] = lm_clamped(lm_average(sum, count), layer->bounds.low, layer->bounds.high);
        }
      }
    }
}
