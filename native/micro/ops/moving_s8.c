/* Copies of bytes, and borders. */
#include <string.h>

#include "fixed_point.h"

void lm_copy_rows(const int8_t* x, int8_t* y, size_t rows, size_t run, size_t pitch) {
  for (; rows != 0; --rows, x += run, y += pitch) memcpy(y, x, run);
}

void lm_pad_s8(const int8_t* x, int8_t* y, const lm_pad* layer) {
  const size_t from = (size_t)layer->in_w * layer->in_c, to = (size_t)layer->out_w * layer->in_c;
  memset(y, layer->value, (size_t)layer->out_h * to);
  y += layer->top * to + (size_t)layer->left * layer->in_c;
  for (uint32_t row = 0; row < layer->in_h; ++row, x += from, y += to) memcpy(y, x, from);
}

void lm_keep(const int8_t* x, int8_t* y, size_t size) {
  const size_t apart = (size_t)(x - y); /* so many bytes at a time do not overlap */
  for (size_t some; size != 0; size -= some, x += some, y += some) {
    some = size < apart ? size : apart;
    memcpy(y, x, some);
  }
}
