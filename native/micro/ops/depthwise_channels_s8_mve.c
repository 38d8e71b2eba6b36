/* Depthwise convolution of bytes with MVE: sixteen channels of one place at a time.
 *
 * Products of bytes are summed in 16 bits for two points of the window, then in 32 bits. The instructions leave the
 * channels in the order 0 4 8 12, 2 6 10 14, 1 5 9 13, 3 7 11 15, in which biases, multipliers and shifts are stored.
 * Weights: for each sixteen channels, for each point of the window sixteen bytes.
 */
#include "fixed_point.h"
#include "patch.h"

enum { kStep = 16 };

typedef struct sums {
  int32x4_t part[4];
} sums;

static inline sums plus(sums s, int16x8_t even, int16x8_t odd) {
  s.part[0] = vaddq_s32(s.part[0], vmovlbq_s16(even));
  s.part[1] = vaddq_s32(s.part[1], vmovltq_s16(even));
  s.part[2] = vaddq_s32(s.part[2], vmovlbq_s16(odd));
  s.part[3] = vaddq_s32(s.part[3], vmovltq_s16(odd));
  return s;
}

/* `points`: where the points of the window are, from x on; an even number of them. */
static inline sums products(sums s, const int8_t* from, const int32_t* points, uint32_t count, const int8_t* w) {
  for (const int32_t* end = points + count; points < end; points += 2, w += 2 * kStep) {
    const int8x16_t x = vldrbq_s8(from + points[0]), y = vldrbq_s8(from + points[1]);
    const int8x16_t v = vldrbq_s8(w), u = vldrbq_s8(w + kStep);
    s = plus(s, vaddq_s16(vmullbq_int_s8(x, v), vmullbq_int_s8(y, u)),
             vaddq_s16(vmulltq_int_s8(x, v), vmulltq_int_s8(y, u)));
  }
  return s;
}

static inline int32x4_t scaled(int32x4_t values, const int32_t* multipliers, const int8_t* shifts, int all_right) {
  int32x4_t shift = vldrbq_s32(shifts);
  if (all_right) {
    values = vqrdmulhq_s32(values, vldrwq_s32(multipliers));
    return vrshlq_s32(vaddq_s32(values, vshrq_n_s32(values, 31)), shift);
  }
  values = vshlq_s32(values, vmaxq_s32(shift, vdupq_n_s32(0)));
  shift = vminq_s32(shift, vdupq_n_s32(0));
  values = vqrdmulhq_s32(values, vldrwq_s32(multipliers));
  values = vaddq_s32(values, vshrq_n_s32(vandq_s32(values, shift), 31));
  return vrshlq_s32(values, shift);
}

/* In the order of channels again. */
static inline int8x16_t bytes_of(sums s, const lm_bounds* bounds) {
  const int16x8_t even = vqmovntq_s32(vqmovnbq_s32(vdupq_n_s16(0), s.part[0]), s.part[1]);
  const int16x8_t odd = vqmovntq_s32(vqmovnbq_s32(vdupq_n_s16(0), s.part[2]), s.part[3]);
  int8x16_t bytes = vqmovnbq_s16(vdupq_n_s8(0), vqaddq_n_s16(even, bounds->out_zero));
  bytes = vqmovntq_s16(bytes, vqaddq_n_s16(odd, bounds->out_zero));
  return vminq_s8(vmaxq_s8(bytes, vdupq_n_s8(bounds->low)), vdupq_n_s8(bounds->high));
}

static void one_place(const int8_t* x, const int32_t* points, uint32_t count, int8_t* y, const lm_conv* layer) {
  const int32_t* pairs = layer->scaling.pairs;
  const int8_t *weights = layer->weights, *shifts = layer->scaling.shifts;
  const int all_right = layer->scaling.all_right;
  for (int32_t left = layer->image.out_c; left > 0; left -= kStep) {
    sums s;
    for (int i = 0; i < 4; ++i) s.part[i] = vldrwq_s32(pairs + 4 * i);
    s = products(s, x, points, count, weights);
    for (int i = 0; i < 4; ++i) s.part[i] = scaled(s.part[i], pairs + kStep + 4 * i, shifts + 4 * i, all_right);
    vstrbq_p_s8(y, bytes_of(s, &layer->bounds), vctp8q((uint32_t)left));
    weights += count * kStep;
    pairs += 2 * kStep;
    shifts += kStep;
    x += kStep;
    y += kStep;
  }
}

/* Where the points of the window at a place are, from x on; those outside the image are the border. */
static void find(int32_t* points, const int8_t* x, const int8_t* border, const lm_image* image, int32_t row,
                 int32_t column) {
  for (int32_t i = 0; i < image->kernel_h; ++i) {
    const int32_t down = i * image->dilation_h;
    for (int32_t j = 0; j < image->kernel_w; ++j) {
      const int32_t across = j * image->dilation_w;
      const int valid =
          row + down >= 0 && row + down < image->in_h && column + across >= 0 && column + across < image->in_w;
      *points++ = valid ? (down * image->in_w + across) * image->in_c : (int32_t)(border - x);
    }
  }
  if (image->kernel_h * image->kernel_w % 2) *points = (int32_t)(border - x);
}

/* scratch: the points of a window, inside the image and at a place; and zero points of all channels: the border. */
void lm_depthwise_channels_s8(const int8_t* x, int8_t* y, void* scratch, const lm_conv* layer) {
  const lm_image* image = &layer->image;
  const int32_t deep = image->in_c;
  const uint32_t taps = (uint32_t)image->kernel_h * image->kernel_w, count = (taps + 1) / 2 * 2;
  int32_t *const inside = scratch, *const points = inside + count;
  int8_t* const border = (int8_t*)(points + count);
  const int32_t last_row = image->in_h - (image->kernel_h - 1) * image->dilation_h;
  const int32_t last_column = image->in_w - (image->kernel_w - 1) * image->dilation_w;
  lm_fill(border, layer->bounds.in_zero, deep);
  inside[count - 1] = 0; /* behind an odd number of points one with weights of zero */
  for (int32_t i = 0; i < image->kernel_h; ++i)
    for (int32_t j = 0; j < image->kernel_w; ++j)
      inside[i * image->kernel_w + j] = (i * image->dilation_h * image->in_w + j * image->dilation_w) * deep;
  for (int32_t i = 0, row = -image->pad_top; i < image->out_h; ++i, row += image->stride_h)
    for (int32_t j = 0, column = -image->pad_left; j < image->out_w; ++j, column += image->stride_w, y += deep) {
      const int8_t* from = x + (row * image->in_w + column) * deep;
      if (row >= 0 && row < last_row && column >= 0 && column < last_column) {
        one_place(from, inside, count, y, layer);
        continue;
      }
      find(points, from, border, image, row, column);
      one_place(from, points, count, y, layer);
    }
}
