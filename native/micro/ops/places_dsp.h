/* What convolutions with the DSP extension share: patches of four places, and how results are stored. */
#ifndef LATHE_MICRO_OPS_PLACES_DSP_H_
#define LATHE_MICRO_OPS_PLACES_DSP_H_

#include <string.h>

#include "fixed_point.h"
#include "patch.h"

enum { kPlaces = 4 };

/* A stretch of bytes as numbers of one place. */
static inline uint32_t* expand(const int8_t* from, uint32_t* to, uint32_t size) {
  for (const int8_t* end = from + size; from < end; from += 4, to += 2 * kPlaces) {
    uint32_t bytes;
    memcpy(&bytes, from, 4);
    to[0] = lm_even_bytes(bytes);
    to[kPlaces] = lm_odd_bytes(bytes);
  }
  return to;
}

static inline void gather(const int8_t* x, uint32_t* to, int8_t* border, const lm_conv* layer, lm_place place) {
  const lm_image* image = &layer->image;
  const uint32_t size = (uint32_t)image->kernel_w * image->in_c;
  const int32_t column = place.column * image->stride_w - image->pad_left, last = image->in_h;
  const int inside = lm_is_inside(image, column);
  const int32_t pitch = image->in_w * image->in_c;
  int32_t row = place.row * image->stride_h - image->pad_top;
  for (uint32_t k = 0; k < image->kernel_h; ++k, row += image->dilation_h) {
    const int8_t* from = x + row * pitch + column * image->in_c;
    if (!inside || row < 0 || row >= last) {
      lm_border_row(x, border, image, row, column, layer->bounds.in_zero);
      from = border;
    }
    to = expand(from, to, size);
  }
}

/* The results of one channel at up to four places. */
static inline void store(const int32_t* sums, int8_t* y, const lm_conv* layer, uint32_t channel, uint32_t places) {
  lm_store_sums(sums, y, places, layer->scaling.pairs[2 * channel + 1], layer->scaling.shifts[channel], &layer->bounds,
                layer->image.out_c, 0);
}

#endif /* LATHE_MICRO_OPS_PLACES_DSP_H_ */
