/* Copies of bytes in another order: transposes, slices, broadcasts, blocks of images. */
#include <string.h>

#include "fixed_point.h"

void lm_move_s8(const int8_t* x, int8_t* y, const lm_move* layer) {
  const int32_t count = layer->counts[0], step = layer->steps[0];
  int32_t done[LM_MOVE_LOOPS] = {0}, at = layer->start;
  for (int loop = 0; loop != LM_MOVE_LOOPS;) {
    if (step == 1) {
      memcpy(y, x + at, (size_t)count);
    } else {
      for (int32_t i = 0; i < count; ++i) y[i] = x[at + i * step];
    }
    y += count;
    for (loop = 1; loop != LM_MOVE_LOOPS; ++loop) {
      at += layer->steps[loop];
      if (++done[loop] < layer->counts[loop]) break;
      at -= layer->steps[loop] * layer->counts[loop];
      done[loop] = 0;
    }
  }
}

void lm_gather_s8(const int8_t* x, int8_t* y, size_t count, size_t run, const int32_t* places) {
  for (size_t i = 0; i < count; ++i, y += run) memcpy(y, x + places[i], run);
}
