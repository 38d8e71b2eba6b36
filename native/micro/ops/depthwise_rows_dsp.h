/* Rows of depthwise convolutions with the DSP extension. The plane of a channel is stored in 16 bits, so that two
 * neighbours are multiplied at a time.
 */
#ifndef LATHE_MICRO_OPS_DEPTHWISE_ROWS_H_
#define LATHE_MICRO_OPS_DEPTHWISE_ROWS_H_

#include <string.h>

#include "fixed_point.h"

typedef int16_t lm_element;

/* Even, with room for what is read behind the last window. */
static inline uint32_t lm_row_width(const lm_image* image) {
  const uint32_t width =
      (uint32_t)(image->out_w - 1) * image->stride_w + (uint32_t)(image->kernel_w - 1) * image->dilation_w + 1;
  return (width + 3) / 2 * 2;
}

static inline void lm_copy_row(const int8_t* x, lm_element* to, uint32_t count, uint32_t pitch) {
  for (; count > 3; count -= 4, x += 4 * pitch, to += 4) {
    to[0] = x[0];
    to[1] = x[pitch];
    to[2] = x[2 * pitch];
    to[3] = x[3 * pitch];
  }
  for (; count != 0; --count, x += pitch) *to++ = *x;
}

/* What the loops for windows of 3 x 3 read. Weights and bias are doubled, which saves a shift for each result. */
typedef struct lm_rows {
  uint32_t weights[6]; /* of each row two pairs */
  int32_t bias[2];
  uint32_t row_bytes; /* of sums */
  int32_t skip;       /* bytes from the end of a row of the plane to the next one */
  int32_t* end;       /* of sums */
} lm_rows;

/* Of rows of the plane the sums of two places at a time. The three arguments: what
 * the rows of the window contribute to r10 and r11. The sums of a row with an odd number of places are followed by one
 * without a meaning.
 */
#define LM_ROWS(first, second, third)            \
  __asm__ volatile(                              \
      "push {r4-r11, lr}\n"                      \
      "sub sp, #28\n"                            \
      "ldm r3!, {r4-r9}\n"                       \
      "ldm r3, {r10, r11, r12, lr}\n"            \
      "ldr r3, [r3, #16]\n"                      \
      "stm sp, {r10, r11, r12, lr}\n"            \
      "str r3, [sp, #16]\n"                      \
      "add r3, r1, r2, lsl #1\n"                 \
      "add r2, r1, r2\n"                         \
      "1:\n"                                     \
      "ldr r12, [sp, #8]\n"                      \
      "add r12, r0, r12\n"                       \
      "str r12, [sp, #20]\n"                     \
      "2:\n"                                     \
      "ldrd r10, r11, [sp]\n" first second third \
      "strd r10, r11, [r0], #8\n"                \
      "ldr r12, [sp, #20]\n"                     \
      "cmp r0, r12\n"                            \
      "bcc 2b\n"                                 \
      "mov r0, r12\n"                            \
      "ldrd r12, lr, [sp, #12]\n"                \
      "add r1, r1, r12\n"                        \
      "add r2, r2, r12\n"                        \
      "add r3, r3, r12\n"                        \
      "cmp r0, lr\n"                             \
      "bcc 1b\n"                                 \
      "add sp, #28\n"                            \
      "pop {r4-r11, pc}\n")

#define LM_STEP1(x, a, b) \
  "ldrd r12, lr, [" x     \
  "], #4\n"               \
  "smlad r10, r12, " a    \
  ", r10\n"               \
  "smlatb r11, r12, " a   \
  ", r11\n"               \
  "smlabt r10, lr, " b    \
  ", r10\n"               \
  "smlad r11, lr, " b ", r11\n"

#define LM_STEP2(x, a, b) \
  "ldrd r12, lr, [" x     \
  "], #4\n"               \
  "smlad r10, r12, " a    \
  ", r10\n"               \
  "smlabt r10, lr, " b    \
  ", r10\n"               \
  "ldrd r12, lr, [" x     \
  "], #4\n"               \
  "smlad r11, r12, " a    \
  ", r11\n"               \
  "smlabt r11, lr, " b ", r11\n"

/* x: rows of `width` bytes. */
__attribute__((naked, noinline)) static void lm_rows_step1(int32_t* sums, const lm_element* x, uint32_t width,
                                                           const lm_rows* rows) {
  (void)sums, (void)x, (void)width, (void)rows;
  LM_ROWS(LM_STEP1("r1", "r4", "r5"), LM_STEP1("r2", "r6", "r7"), LM_STEP1("r3", "r8", "r9"));
}

__attribute__((naked, noinline)) static void lm_rows_step2(int32_t* sums, const lm_element* x, uint32_t width,
                                                           const lm_rows* rows) {
  (void)sums, (void)x, (void)width, (void)rows;
  LM_ROWS(LM_STEP2("r1", "r4", "r5"), LM_STEP2("r2", "r6", "r7"), LM_STEP2("r3", "r8", "r9"));
}

static inline uint32_t lm_pair(int32_t low, int32_t high) {
  return (uint32_t)(uint16_t)(2 * low) | (uint32_t)(2 * high) << 16;
}

enum { kLmMostSums = 128 };

/* All rows of a channel with a window of 3 x 3 and steps of 1 or 2, as many at a time as `sums` has room for. */
static void lm_channel_3x3(const lm_element* x, uint32_t width, const int8_t* w, int32_t* sums, int8_t* y,
                           const lm_conv* layer, uint32_t channel) {
  const lm_image* image = &layer->image;
  const uint32_t columns = image->out_w, step = image->stride_w, pairs = (columns + 1) / 2;
  const uint32_t fit = kLmMostSums / columns, most = fit ? fit : 1;
  lm_rows rows;
  for (uint32_t i = 0; i < 3; ++i, w += 3) {
    rows.weights[2 * i] = lm_pair(w[0], w[1]);
    rows.weights[2 * i + 1] = lm_pair(w[1], w[2]);
  }
  rows.bias[0] = rows.bias[1] = 2 * layer->scaling.pairs[2 * channel];
  rows.row_bytes = 4 * columns;
  rows.skip = (int32_t)(2 * image->stride_h * width) - (int32_t)(4 * step * pairs);
  for (uint32_t row = 0; row < image->out_h; row += most) {
    const uint32_t count = (image->out_h - row < most ? image->out_h - row : most) * columns;
    rows.end = sums + count;
    (step == 1 ? lm_rows_step1 : lm_rows_step2)(sums, x + row * image->stride_h * width, 2 * width, &rows);
    lm_store_sums(sums, y, count, layer->scaling.pairs[2 * channel + 1], layer->scaling.shifts[channel], &layer->bounds,
                  image->out_c, 1);
    y += (size_t)count * image->out_c;
  }
}

static void lm_row_sums(const lm_element* x, uint32_t width, const int8_t* w, int32_t* sums, const lm_conv* layer,
                        int32_t bias) {
  const lm_image* image = &layer->image;
  for (uint32_t k = 0; k < image->out_w; ++k, x += image->stride_w) {
    const lm_element* row = x;
    const int8_t* weights = w;
    int32_t sum = bias;
    for (uint32_t i = 0; i < image->kernel_h; ++i, row += width * image->dilation_h)
      for (uint32_t j = 0; j < image->kernel_w; ++j) sum += *weights++ * row[j * image->dilation_w];
    sums[k] = sum;
  }
}

static void lm_channel(const lm_element* x, uint32_t width, const int8_t* w, int32_t* sums, int8_t* y,
                       const lm_conv* layer, uint32_t channel) {
  const lm_image* image = &layer->image;
  if (image->kernel_h == 3 && image->kernel_w == 3 && image->dilation_h == 1 && image->dilation_w == 1 &&
      image->stride_w <= 2 && layer->scaling.shifts[channel] < kLmWide / 2) {
    lm_channel_3x3(x, width, w, sums, y, layer, channel);
    return;
  }
  for (uint32_t row = 0; row < image->out_h; ++row, y += (size_t)image->out_w * image->out_c) {
    lm_row_sums(x + row * image->stride_h * width, width, w, sums, layer, layer->scaling.pairs[2 * channel]);
    lm_store_sums(sums, y, image->out_w, layer->scaling.pairs[2 * channel + 1], layer->scaling.shifts[channel],
                  &layer->bounds, image->out_c, 0);
  }
}

#endif /* LATHE_MICRO_OPS_DEPTHWISE_ROWS_H_ */
