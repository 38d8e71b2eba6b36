/* The part of an image that a place of the output depends on, row by row. */
#ifndef LATHE_MICRO_OPS_PATCH_H_
#define LATHE_MICRO_OPS_PATCH_H_

#include <string.h>

#include "lathe_micro.h"

typedef struct lm_place {
  int32_t row, column;
} lm_place;

static inline void lm_next(lm_place* place, const lm_image* image) {
  if (++place->column < image->out_w) return;
  place->column = 0;
  ++place->row;
}

/* One row of a patch, kernel_w * in_c bytes, where it is not entirely inside the image. */
static void lm_border_row(const int8_t* x, int8_t* to, const lm_image* image, int32_t row, int32_t column, int fill) {
  const int32_t deep = image->in_c;
  for (int32_t k = 0; k < image->kernel_w; ++k, column += image->dilation_w, to += deep) {
    if (row < 0 || row >= image->in_h || column < 0 || column >= image->in_w)
      memset(to, fill, (size_t)deep);
    else
      memcpy(to, x + ((size_t)row * image->in_w + (size_t)column) * (size_t)deep, (size_t)deep);
  }
}

/* Whether a row of a patch is a stretch of the image. */
static inline int lm_is_inside(const lm_image* image, int32_t row, int32_t column) {
  return row >= 0 && row < image->in_h && column >= 0 && column + image->kernel_w <= image->in_w &&
         (image->dilation_w == 1 || image->kernel_w == 1);
}

static inline void lm_patch(const int8_t* x, int8_t* to, const lm_image* image, lm_place place, int fill) {
  const size_t size = (size_t)image->kernel_w * image->in_c;
  const int32_t column = place.column * image->stride_w - image->pad_left;
  int32_t row = place.row * image->stride_h - image->pad_top;
  for (uint32_t k = 0; k < image->kernel_h; ++k, row += image->dilation_h, to += size) {
    if (lm_is_inside(image, row, column))
      memcpy(to, x + ((size_t)row * image->in_w + (size_t)column) * image->in_c, size);
    else
      lm_border_row(x, to, image, row, column, fill);
  }
}

#endif /* LATHE_MICRO_OPS_PATCH_H_ */
