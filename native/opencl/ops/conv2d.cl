// Four output pixels times BLOCKS blocks of output channels. SLIDE: windows move by one pixel, and a tile's pixels are
// neighbours: each tap reads one new pixel instead of four.
#include "tile.cl"

#define READ(at) LOAD_IF(0, x, WITHIN(at, width), origin + (at), row)

__kernel void conv2d(WORK, IN(0, x), IN(1, filter), OUT(2, y) ADDED_ARGUMENTS, const int height, const int width,
                     const int x_blocks, const int out_height, const int out_width, const int channels,
                     const int kernel_y, const int kernel_x, const int stride_y,
                     const int stride_x, const int dilation_y, const int dilation_x, const int top, const int left,
                     const int blocks, const int group_inputs, const int group_outputs LAST_ARGUMENTS) {
  BEGIN
  const int taps = kernel_y * kernel_x, filter_a = Y * BLOCKS * taps;
#if BLOCKS == 2
  const int filter_b = filter_a + taps;
#endif
  const int image = Z / out_height * height, first_y = Z % out_height * stride_y - top;
  const int first_block = min(4 * BLOCKS * Y / group_outputs * group_inputs / 4, x_blocks - blocks);
#if SLIDE
  const int col0 = 4 * X, col_step = 1, first_x = col0 - left;
#else
  const int col0 = X, col_step = work_x, first_x = col0 * stride_x - left, step_x = work_x * stride_x;
#endif
  SUMS
  for (int block = 0; block < blocks; ++block) {
    const int origin = (first_block + block) * width;
    for (int ky = 0, tap = 0; ky < kernel_y; ++ky) {
      const int at_y = first_y + ky * dilation_y, row = image + at_y;
      if (!WITHIN(at_y, height)) {
        tap += kernel_x;
        continue;
      }
      int at = first_x;
#if SLIDE
      real4 x0 = READ(at), x1 = READ(at + 1), x2 = READ(at + 2);
#endif
      for (int kx = 0; kx < kernel_x; ++kx, ++tap, at += dilation_x) {
#if SLIDE
        const real4 x3 = READ(at + 3);
#else
        const real4 x0 = READ(at), x1 = READ(at + step_x), x2 = READ(at + 2 * step_x), x3 = READ(at + 3 * step_x);
#endif
        LOAD_FILTERS(a, 4 * block, filter_a + tap)
#if BLOCKS == 2
        LOAD_FILTERS(b, 4 * block, filter_b + tap)
#endif
        TILE(MULTIPLY)
        COUNT_TERMS
#if SLIDE
        x0 = x1;
        x1 = x2;
        x2 = x3;
#endif
      }
    }
  }
  FLUSH
#define KEEP(s, p)                                                              \
  if (col0 + p * col_step < out_width) {                                        \
    FINISH(s##p, b_##s, (b_##s) * out_width + col0 + p * col_step, Z)           \
  }
  const int b_a = Y * BLOCKS, b_b = b_a + 1;
  TILE(KEEP)
}
