/* Rows of depthwise convolutions for any processor. */
#ifndef LATHE_MICRO_OPS_DEPTHWISE_ROWS_H_
#define LATHE_MICRO_OPS_DEPTHWISE_ROWS_H_

#include "fixed_point.h"

typedef int8_t lm_element;

static inline uint32_t lm_row_width(const lm_image* image) {
  return (uint32_t)(image->out_w - 1) * image->stride_w + (uint32_t)(image->kernel_w - 1) * image->dilation_w + 1;
}

static inline void lm_copy_row(const int8_t* x, lm_element* to, uint32_t count, uint32_t pitch) {
  for (; count != 0; --count, x += pitch) *to++ = *x;
}

static void lm_row_sums(const lm_element* x, uint32_t width, const int8_t* w, int32_t* sums, const lm_image* image) {
  if (image->kernel_h == 3 && image->kernel_w == 3 && image->dilation_h == 1 && image->dilation_w == 1) {
    for (uint32_t k = 0; k < image->out_w; ++k, x += image->stride_w) {
      const lm_element *second = x + width, *third = second + width;
      sums[k] = w[0] * x[0] + w[1] * x[1] + w[2] * x[2] + w[3] * second[0] + w[4] * second[1] + w[5] * second[2] +
                w[6] * third[0] + w[7] * third[1] + w[8] * third[2];
    }
    return;
  }
  for (uint32_t k = 0; k < image->out_w; ++k, x += image->stride_w) {
    const lm_element* row = x;
    const int8_t* weights = w;
    int32_t sum = 0;
    for (uint32_t i = 0; i < image->kernel_h; ++i, row += width * image->dilation_h)
      for (uint32_t j = 0; j < image->kernel_w; ++j) sum += *weights++ * row[j * image->dilation_w];
    sums[k] = sum;
  }
}

static inline void lm_store_row(const int32_t* sums, int8_t* y, const lm_conv* layer, uint32_t channel) {
  const int32_t bias = layer->scaling.pairs[2 * channel], multiplier = layer->scaling.pairs[2 * channel + 1];
  const int shift = layer->scaling.shifts[channel];
  const int32_t zero = layer->bounds.out_zero, low = layer->bounds.low, high = layer->bounds.high;
  for (const int32_t* end = sums + layer->image.out_w; sums < end; ++sums, y += layer->image.out_c)
    *y = lm_clamped(lm_scaled(*sums + bias, multiplier, shift) + zero, low, high);
}

static void lm_channel(const lm_element* x, uint32_t width, const int8_t* w, int32_t* sums, int8_t* y,
                       const lm_conv* layer, uint32_t channel) {
  const lm_image* image = &layer->image;
  for (uint32_t row = 0; row < image->out_h; ++row, y += (size_t)image->out_w * image->out_c) {
    lm_row_sums(x + row * image->stride_h * width, width, w, sums, image);
    lm_store_row(sums, y, layer, channel);
  }
}

#endif /* LATHE_MICRO_OPS_DEPTHWISE_ROWS_H_ */
