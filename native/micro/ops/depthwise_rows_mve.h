/* Rows of depthwise convolutions with MVE: eight places at a time, in 32 bits. */
#ifndef LATHE_MICRO_OPS_DEPTHWISE_ROWS_H_
#define LATHE_MICRO_OPS_DEPTHWISE_ROWS_H_

#include "fixed_point.h"

typedef int8_t lm_element;

static inline uint32_t lm_row_width(const lm_image* image) {
  return (uint32_t)(image->out_w - 1) * image->stride_w + (uint32_t)(image->kernel_w - 1) * image->dilation_w + 1;
}

/* May write up to three elements more, which the border replaces. */
static inline void lm_copy_row(const int8_t* x, lm_element* to, uint32_t count, uint32_t pitch) {
  const uint32x4_t offsets = vmulq_n_u32(vidupq_n_u32(0, 1), pitch);
  for (int32_t left = (int32_t)count; left > 0; left -= 4, x += 4 * pitch, to += 4)
    vstrbq_s32(to, vldrbq_gather_offset_s32(x, offsets));
}

/* A window of 3 x 3 whose places are next to each other. */
static void lm_row_sums_step1(const lm_element* x, uint32_t width, const int8_t* w, int32_t* sums, uint32_t count) {
  const lm_element *second = x + width, *third = second + width;
  for (int32_t left = (int32_t)count; left > 0; left -= 4, x += 4, second += 4, third += 4, sums += 4) {
    int32x4_t sum = vmulq_n_s32(vldrbq_s32(x), w[0]);
    sum = vmlaq_n_s32(sum, vldrbq_s32(x + 1), w[1]);
    sum = vmlaq_n_s32(sum, vldrbq_s32(x + 2), w[2]);
    sum = vmlaq_n_s32(sum, vldrbq_s32(second), w[3]);
    sum = vmlaq_n_s32(sum, vldrbq_s32(second + 1), w[4]);
    sum = vmlaq_n_s32(sum, vldrbq_s32(second + 2), w[5]);
    sum = vmlaq_n_s32(sum, vldrbq_s32(third), w[6]);
    sum = vmlaq_n_s32(sum, vldrbq_s32(third + 1), w[7]);
    sum = vmlaq_n_s32(sum, vldrbq_s32(third + 2), w[8]);
    vstrwq_s32(sums, sum);
  }
}

static void lm_row_sums(const lm_element* x, uint32_t width, const int8_t* w, int32_t* sums, const lm_image* image) {
  if (image->kernel_h == 3 && image->kernel_w == 3 && image->stride_w == 1 && image->dilation_h == 1 &&
      image->dilation_w == 1) {
    lm_row_sums_step1(x, width, w, sums, image->out_w);
    return;
  }
  const uint32x4_t offsets = vmulq_n_u32(vidupq_n_u32(0, 1), image->stride_w);
  for (int32_t left = image->out_w; left > 0; left -= 4, x += 4 * image->stride_w, sums += 4) {
    const lm_element* row = x;
    const int8_t* weights = w;
    int32x4_t sum = vdupq_n_s32(0);
    for (uint32_t i = 0; i < image->kernel_h; ++i, row += width * image->dilation_h)
      for (uint32_t j = 0; j < image->kernel_w; ++j)
        sum = vmlaq_n_s32(sum, vldrbq_gather_offset_s32(row + j * image->dilation_w, offsets), *weights++);
    vstrwq_s32(sums, sum);
  }
}

static inline void lm_store_row(const int32_t* sums, int8_t* y, const lm_conv* layer, uint32_t channel) {
  const int32_t bias = layer->scaling.pairs[2 * channel], multiplier = layer->scaling.pairs[2 * channel + 1];
  const int shift = layer->scaling.shifts[channel];
  const uint32_t pitch = layer->image.out_c;
  const uint32x4_t offsets = vmulq_n_u32(vidupq_n_u32(0, 1), pitch);
  const int32x4_t low = vdupq_n_s32(layer->bounds.low), high = vdupq_n_s32(layer->bounds.high);
  for (int32_t left = layer->image.out_w; left > 0; left -= 4, sums += 4, y += 4 * pitch) {
    int32x4_t values = lm_scaled_vector(vaddq_n_s32(vldrwq_s32(sums), bias), multiplier, shift);
    values = vminq_s32(vmaxq_s32(vaddq_n_s32(values, layer->bounds.out_zero), low), high);
    vstrbq_scatter_offset_p_s32(y, offsets, values, vctp32q((uint32_t)left));
  }
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
