/* The part of a pool's window that is inside the image. */
#ifndef LATHE_MICRO_OPS_POOL_WINDOW_H_
#define LATHE_MICRO_OPS_POOL_WINDOW_H_

#include "lathe_micro.h"

typedef struct lm_pool_window {
  int32_t top, bottom, left, right;
} lm_pool_window;

static inline lm_pool_window lm_inside(const lm_image* image, uint32_t row, uint32_t column) {
  lm_pool_window found;
  found.top = (int32_t)(row * image->stride_h) - image->pad_top;
  found.left = (int32_t)(column * image->stride_w) - image->pad_left;
  found.bottom = found.top + image->kernel_h;
  found.right = found.left + image->kernel_w;
  if (found.top < 0) found.top = 0;
  if (found.left < 0) found.left = 0;
  if (found.bottom > image->in_h) found.bottom = image->in_h;
  if (found.right > image->in_w) found.right = image->in_w;
  return found;
}

/* A sum of bytes divided by their count, half away from zero. */
static inline int32_t lm_average(int32_t sum, int32_t count) {
  return (sum + (sum < 0 ? -(count / 2) : count / 2)) / count;
}

#endif /* LATHE_MICRO_OPS_POOL_WINDOW_H_ */
