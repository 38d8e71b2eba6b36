/* Pools of bytes with the DSP extension: four channels at a time. */
#include <string.h>

#include "fixed_point.h"
#include "pool_window.h"

static inline uint32_t four(const int8_t* x) {
  uint32_t bytes;
  memcpy(&bytes, x, 4);
  return bytes;
}

/* The larger one of each two bytes. */
static inline uint32_t larger(uint32_t a, uint32_t b) {
  uint32_t result;
  __asm__("ssub8 %0, %1, %2\n sel %0, %1, %2" : "=&r"(result) : "r"(a), "r"(b) : "cc");
  return result;
}

static uint32_t largest(const int8_t* x, const lm_image* image, lm_pool_window w) {
  uint32_t found = 0x80808080u;
  for (int32_t i = w.top; i < w.bottom; ++i, x += (uint32_t)image->in_w * image->in_c) {
    const int8_t* from = x;
    for (int32_t j = w.left; j < w.right; ++j, from += image->in_c) found = larger(found, four(from));
  }
  return found;
}

void lm_max_pool_s8(const int8_t* x, int8_t* y, const lm_pool* layer) {
  const lm_image* image = &layer->image;
  const int bounded = layer->bounds.low != -128 || layer->bounds.high != 127;
  for (uint32_t row = 0; row < image->out_h; ++row)
    for (uint32_t column = 0; column < image->out_w; ++column, y += image->in_c) {
      const lm_pool_window w = lm_inside(image, row, column);
      const int8_t* from = x + ((uint32_t)w.top * image->in_w + (uint32_t)w.left) * image->in_c;
      for (uint32_t at = 0; at < image->in_c; at += 4) {
        const uint32_t found = largest(from + at, image, w), left = image->in_c - at;
        if (!bounded && left >= 4) {
          memcpy(y + at, &found, 4);
          continue;
        }
        for (uint32_t k = 0; k < 4 && k < left; ++k)
          y[at + k] = lm_clamped((int8_t)(found >> (8 * k)), layer->bounds.low, layer->bounds.high);
      }
    }
}

/* Four sums of 16 bits, of up to 255 bytes each: channels 0 and 2, and 1 and 3. */
static void total(const int8_t* x, const lm_image* image, lm_pool_window w, uint32_t* even, uint32_t* odd) {
  uint32_t a = 0, b = 0;
  for (int32_t i = w.top; i < w.bottom; ++i, x += (uint32_t)image->in_w * image->in_c) {
    const int8_t* from = x;
    for (int32_t j = w.left; j < w.right; ++j, from += image->in_c) {
      const uint32_t bytes = four(from);
      __asm__("sxtab16 %0, %0, %1" : "+r"(a) : "r"(bytes));
      __asm__("sxtab16 %0, %0, %1, ror #8" : "+r"(b) : "r"(bytes));
    }
  }
  *even = a, *odd = b;
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
      for (uint32_t at = 0; at < image->in_c; at += 4) {
        uint32_t sums[2] = {0, 0};
        if (count <= 255) total(from + at, image, w, &sums[0], &sums[1]);
        for (uint32_t k = 0; k < 4 && at + k < image->in_c; ++k) {
          const int32_t sum =
              count <= 255 ? (int16_t)(sums[k & 1] >> (16 * (k >> 1))) : total_of_one(from + at + k, image, w);
          y[at + k] = lm_clamped(lm_average(sum, count), layer->bounds.low, layer->bounds.high);
        }
      }
    }
}
