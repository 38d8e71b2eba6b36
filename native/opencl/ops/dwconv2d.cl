// Four output pixels of one block of channels. SLIDE as in conv2d. GATHER: channel c * multiplier + j reads channel c.
#include "tile.cl"

#define READ_BLOCK(block, at) LOAD_IF(0, x, WITHIN(at, width), (block) * width + (at), row)
#if GATHER
real4 gathered(real4 first, real4 second, int at, int multiplier, int channel) {
  const int from = channel / multiplier - at, b = (channel + 1) / multiplier - at, c = (channel + 2) / multiplier - at,
            d = (channel + 3) / multiplier - at;
  return (real4)(lane_of(from < 4 ? first : second, from & 3), lane_of(b < 4 ? first : second, b & 3),
                 lane_of(c < 4 ? first : second, c & 3), lane_of(d < 4 ? first : second, d & 3));
}
#define READ(at) \
  gathered(READ_BLOCK(first_block, at), READ_BLOCK(last_block, at), 4 * first_block, multiplier, 4 * Y)
#else
#define READ(at) READ_BLOCK(Y, at)
#endif

__kernel void dwconv2d(WORK, IN(0, x), IN(1, filter), OUT(2, y) ADDED_ARGUMENTS, const int height, const int width,
                       const int x_blocks, const int out_height, const int out_width, const int channels,
                       const int kernel_y, const int kernel_x, const int stride_y, const int stride_x,
                       const int dilation_y, const int dilation_x, const int top, const int left,
                       const int multiplier LAST_ARGUMENTS) {
  BEGIN
  const int image = Z / out_height * height, first_y = Z % out_height * stride_y - top;
#if GATHER
  const int first_block = 4 * Y / multiplier / 4, last_block = min((4 * Y + 3) / multiplier / 4, x_blocks - 1);
#endif
#if SLIDE
  const int col0 = 4 * X, col_step = 1, first_x = col0 - left;
#else
  const int col0 = X, col_step = work_x, first_x = col0 * stride_x - left, step_x = work_x * stride_x;
#endif
  SUMS
  for (int ky = 0; ky < kernel_y; ++ky) {
    const int at_y = first_y + ky * dilation_y, row = image + at_y;
    if (!WITHIN(at_y, height)) continue;
    int at = first_x;
#if SLIDE
    real4 x0 = READ(at), x1 = READ(at + 1), x2 = READ(at + 2);
#endif
    for (int kx = 0; kx < kernel_x; ++kx, at += dilation_x) {
#if SLIDE
      const real4 x3 = READ(at + 3);
#else
      const real4 x0 = READ(at), x1 = READ(at + step_x), x2 = READ(at + 2 * step_x), x3 = READ(at + 3 * step_x);
#endif
      const real4 f = LOAD(1, filter, ky * kernel_x + kx, Y);
#define SCALE(s, p) PART(s, p) = mad(x##p, f, PART(s, p));
      TILE(SCALE)
#if SLIDE
      x0 = x1;
      x1 = x2;
      x2 = x3;
#endif
    }
    FLUSH
  }
#define KEEP(s, p)                                                     \
  if (col0 + p * col_step < out_width) {                               \
    FINISH(s##p, Y, Y * out_width + col0 + p * col_step, Z)            \
  }
  TILE(KEEP)
}
