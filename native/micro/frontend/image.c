/* Crop, bilinear or nearest resize, normalisation and quantisation of images. */
#include "image.h"

void lm_picture_input(const uint8_t* image, int8_t* input, const lm_picture* about) {
  const uint32_t deep = about->channels, pitch = (uint32_t)about->in_w * deep;
  for (uint32_t i = 0; i < about->out_h; ++i) {
    const uint32_t row = about->rows[2 * i], down = about->rows[2 * i + 1];
    const uint8_t* above = image + row * pitch;
    const uint8_t* below = row < about->last[0] ? above + pitch : above;
    for (uint32_t j = 0; j < about->out_w; ++j) {
      const uint32_t column = about->columns[2 * j], across = about->columns[2 * j + 1];
      const uint32_t left = column * deep, right = column < about->last[1] ? left + deep : left;
      for (uint32_t c = 0; c < deep; ++c) {
        const uint32_t high = above[left + c] * (256 - across) + above[right + c] * across;
        const uint32_t low = below[left + c] * (256 - across) + below[right + c] * across;
        const uint32_t value = (high * (256 - down) + low * down + (1u << 15)) >> 16;
        *input++ = about->table[256 * c + value];
      }
    }
  }
}
