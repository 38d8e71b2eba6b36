// Four output pixels that are `stride_x` or a multiple apart: the same taps reach them.
#include "tile.cl"

#define READ(p) const real4 x##p = LOAD_IF(0, x, WITHIN(at + p * tiles, width), origin + at + p * tiles, row);

__kernel void deconv2d(WORK, IN(0, x), IN(1, filter), OUT(2, y) ADDED_ARGUMENTS, const int height, const int width,
                       const int x_blocks, const int out_height, const int out_width, const int channels,
                       const int kernel_y, const int kernel_x, const int stride_y,
                       const int stride_x, const int dilation_y, const int dilation_x, const int top, const int left,
                       const int blocks, const int group_inputs, const int group_outputs LAST_ARGUMENTS) {
  BEGIN
  const int phases = min(stride_x, out_width);
  const int phase = X % phases, tile = X / phases, tiles = work_x / phases;
  const int image = Z / out_height * height, reach_y = Z % out_height + top;
  const int first_block = min(4 * BLOCKS * Y / group_outputs * group_inputs / 4, x_blocks - blocks);
  SUMS
  for (int ky = 0; ky < kernel_y; ++ky) {
    const int from_y = reach_y - ky * dilation_y, at_y = from_y / stride_y, row = image + at_y;
    if (from_y < 0 || from_y % stride_y != 0 || at_y >= height) continue;
    for (int kx = 0; kx < kernel_x; ++kx) {
      const int from_x = phase + left - kx * dilation_x;
      if (from_x % stride_x != 0) continue;
      const int at = from_x / stride_x + tile;
      for (int block = 0; block < blocks; ++block) {
        const int origin = (first_block + block) * width;
        READ(0) READ(1) READ(2) READ(3)
        LOAD_FILTERS(a, 4 * block, (Y * BLOCKS * kernel_y + ky) * kernel_x + kx)
#if BLOCKS == 2
        LOAD_FILTERS(b, 4 * block, ((Y * 2 + 1) * kernel_y + ky) * kernel_x + kx)
#endif
        TILE(MULTIPLY)
        COUNT_TERMS
      }
    }
  }
  FLUSH
#define COLUMN(p) ((tile + p * tiles) * stride_x + phase)
#define KEEP(s, p) \
  if (COLUMN(p) < out_width) { FINISH(s##p, b_##s, (b_##s) * out_width + COLUMN(p), Z) }
  const int b_a = Y * BLOCKS, b_b = b_a + 1;
  TILE(KEEP)
}
