/* Convolutions of numbers of 16 bits with weights of 8, from the image itself: what is outside of it is zero.
 * Weights: [channels][rows][columns][input channels].
 */
#include "dot.h"

static int16_t stored(int64_t sum, const lm_conv16* layer, uint32_t channel) {
  const int32_t multiplier = layer->multipliers[channel];
  const int shift = layer->shifts[channel];
  const int32_t value =
      layer->exact ? lm_scaled_exactly(sum, multiplier, shift) : lm_scaled_wide(sum, multiplier, shift);
  return lm_clamped16(value, layer->low, layer->high);
}

/* The first and the last tap of a kernel that are inside the image, for one axis. */
static void inside(int32_t start, int32_t step, int32_t taps, int32_t size, int32_t* first, int32_t* last) {
  *first = 0;
  *last = taps;
  while (*first < taps && start + *first * step < 0) ++*first;
  while (*last > *first && start + (*last - 1) * step >= size) --*last;
}

__attribute__((noinline)) static void store_four(const int64_t* sums, int16_t* y, const lm_conv16* layer,
                                                 uint32_t channel) {
  const int32_t* multipliers = layer->multipliers + channel;
  const int8_t* shifts = layer->shifts + channel;
  const int32_t low = layer->low, high = layer->high;
  if (layer->exact) {
    for (uint32_t k = 0; k < 4; ++k)
      y[k] = lm_clamped16(lm_scaled_exactly(sums[k], multipliers[k], shifts[k]), low, high);
    return;
  }
  for (const int64_t* const end = sums + 4; sums < end; ++sums) {
    const int32_t narrow = (int32_t)*sums, factor = *multipliers++;
    const int64_t product = narrow == *sums ? (int64_t)narrow * factor : *sums * factor;
    *y++ = lm_clamped16(lm_rounded_right(product, 15 - *shifts++), low, high);
  }
}

/* Four channels at a time read the image once. */
void lm_conv_s16(const int16_t* x, int16_t* y, const lm_conv16* layer) {
  const lm_image* image = &layer->image;
  const int32_t deep = image->in_c, across = image->kernel_w, step = image->dilation_w;
  const int32_t filter = image->kernel_h * across * deep;
  for (int32_t row = 0; row < image->out_h; ++row)
    for (int32_t column = 0; column < image->out_w; ++column) {
      const int32_t top = row * image->stride_h - image->pad_top, left = column * image->stride_w - image->pad_left;
      int32_t up, down, first, last;
      inside(top, image->dilation_h, image->kernel_h, image->in_h, &up, &down);
      inside(left, step, across, image->in_w, &first, &last);
      const int8_t* weights = layer->weights;
      uint32_t channel = 0;
      for (; channel + 4 <= image->out_c; channel += 4, weights += 4 * filter) {
        int64_t sums[4];
        for (uint32_t k = 0; k < 4; ++k) sums[k] = layer->biases[channel + k];
        for (int32_t i = up; i < down; ++i) {
          const int16_t* line = x + ((top + i * image->dilation_h) * image->in_w + left) * deep;
          const int8_t* taps = weights + i * across * deep;
          const int32_t run = step == 1 ? last - first : 1;
          for (int32_t j = first; j < last; j += run)
            lm_dot4_s16_s8(line + j * step * deep, taps + j * deep, (uint32_t)filter, (uint32_t)(run * deep), sums);
        }
        store_four(sums, y, layer, channel);
        y += 4;
      }
      for (; channel < image->out_c; ++channel, weights += filter) {
        int64_t sum = layer->biases[channel];
        for (int32_t i = up; i < down; ++i) {
          const int16_t* line = x + ((top + i * image->dilation_h) * image->in_w + left) * deep;
          const int8_t* taps = weights + i * across * deep;
          if (step == 1) {
            sum += lm_dot_s16_s8(line + first * deep, taps + first * deep, (uint32_t)((last - first) * deep));
            continue;
          }
          for (int32_t j = first; j < last; ++j)
            sum += lm_dot_s16_s8(line + j * step * deep, taps + j * deep, (uint32_t)deep);
        }
        *y++ = stored(sum, layer, channel);
      }
    }
}

/* Weights: [channels][rows][columns]. */
void lm_depthwise_s16(const int16_t* x, int16_t* y, const lm_conv16* layer) {
  const lm_image* image = &layer->image;
  const int32_t deep = image->in_c, across = image->kernel_w, times = image->out_c / image->in_c;
  const int32_t filter = image->kernel_h * across;
  for (int32_t row = 0; row < image->out_h; ++row)
    for (int32_t column = 0; column < image->out_w; ++column) {
      const int32_t top = row * image->stride_h - image->pad_top, left = column * image->stride_w - image->pad_left;
      int32_t up, down, first, last;
      inside(top, image->dilation_h, image->kernel_h, image->in_h, &up, &down);
      inside(left, image->dilation_w, across, image->in_w, &first, &last);
      for (int32_t channel = 0; channel < image->out_c; ++channel) {
        int64_t sum = layer->biases[channel];
        for (int32_t i = up; i < down; ++i) {
          const int32_t start = ((top + i * image->dilation_h) * image->in_w + left) * deep + channel / times;
          const int8_t* taps = layer->weights + channel * filter + i * across;
          for (int32_t j = first; j < last; ++j) sum += (int32_t)x[start + j * image->dilation_w * deep] * taps[j];
        }
        *y++ = stored(sum, layer, (uint32_t)channel);
      }
    }
}
