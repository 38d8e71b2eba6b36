/* The part of an image that a place of the output depends on, row by row. */
#ifndef LATHE_MICRO_OPS_PATCH_H_
#define LATHE_MICRO_OPS_PATCH_H_

#include <string.h>

#include "fixed_point.h"

typedef struct lm_place {
  int32_t row, column;
} lm_place;

static inline void lm_next(lm_place* place, const lm_image* image) {
  if (++place->column < image->out_w) return;
  place->column = 0;
  ++place->row;
}

/* Copies and fills; with MVE up to 15 bytes more are written, which what follows replaces. */
static inline void lm_copy(int8_t* to, const int8_t* from, int32_t size) {
#if LATHE_MICRO_MVE
  for (; size > 0; size -= 16, from += 16, to += 16) vstrbq_s8(to, vldrbq_s8(from));
#else
  if (size > 16) {
    memcpy(to, from, (size_t)size);
    return;
  }
  for (const int8_t* const end = from + size; from < end; ++from, ++to) {
    *to = *from;
    __asm__(""); /* a loop, and not a call for these few bytes */
  }
#endif
}

static inline void lm_fill(int8_t* to, int value, int32_t size) {
#if LATHE_MICRO_MVE
  for (; size > 0; size -= 16, to += 16) vstrbq_s8(to, vdupq_n_s8((int8_t)value));
#else
  if (size > 16) {
    memset(to, value, (size_t)size);
    return;
  }
  for (const int8_t* const end = to + size; to < end; ++to) {
    *to = (int8_t)value;
    __asm__("");
  }
#endif
}

/* One row of a patch, kernel_w * in_c bytes, where it is not entirely inside the image. */
static void lm_border_row(const int8_t* x, int8_t* to, const lm_image* image, int32_t row, int32_t column, int fill) {
  const int32_t deep = image->in_c, across = image->kernel_w, step = image->dilation_w;
  if (row < 0 || row >= image->in_h) {
    lm_fill(to, fill, across * deep);
    return;
  }
  x += (size_t)row * image->in_w * image->in_c;
  if (step == 1) {
    const int32_t first = column < 0 ? -column : 0;
    const int32_t last = column + across > image->in_w ? image->in_w - column : across;
    lm_fill(to, fill, first * deep);
    lm_copy(to + first * deep, x + (column + first) * deep, (last - first) * deep);
    lm_fill(to + last * deep, fill, (across - last) * deep);
    return;
  }
  for (int32_t k = 0; k < across; ++k, column += step, to += deep) {
    if (column < 0 || column >= image->in_w)
      lm_fill(to, fill, deep);
    else
      lm_copy(to, x + column * deep, deep);
  }
}

/* Whether the rows of a patch are stretches of the rows of the image. */
static inline int lm_is_inside(const lm_image* image, int32_t column) {
  return column >= 0 && column + image->kernel_w <= image->in_w && (image->dilation_w == 1 || image->kernel_w == 1);
}

static inline void lm_patch(const int8_t* x, int8_t* to, const lm_image* image, lm_place place, int fill) {
  const int32_t size = image->kernel_w * image->in_c, last = image->in_h;
  const int32_t column = place.column * image->stride_w - image->pad_left;
  const int inside = lm_is_inside(image, column);
  const int32_t pitch = image->in_w * image->in_c;
  int32_t row = place.row * image->stride_h - image->pad_top;
  for (int32_t k = image->kernel_h; k != 0; --k, row += image->dilation_h, to += size) {
    if (inside && row >= 0 && row < last)
      lm_copy(to, x + row * pitch + column * image->in_c, size);
    else
      lm_border_row(x, to, image, row, column, fill);
  }
}

#endif /* LATHE_MICRO_OPS_PATCH_H_ */
