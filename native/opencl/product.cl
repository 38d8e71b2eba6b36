// Pixels times a matrix, on tiles of four pixels that lie far apart, so that neighbours read neighbours.
//
//   plain       the pixels of all lines in a row; the filter's pixels are (input channel, block of outputs)
//   BATCHED     line by line, with a matrix each: a tensor whose pixels are (block of outputs * depth + row, line)
//   WINOGRAD    the same with pixels (tile, part * blocks + block) and a filter (input channel, part * blocks + block)
#include "tile.cl"

#ifdef BATCHED
// Rows behind the last are not read: another block begins there.
#define FILTER_ROW(s, i, at) \
  const real4 s##f##i = 4 * block + i < depth ? LOAD(1, filter, at + 4 * block + i, filter_line) : (real4)(0);
#define FILTER(s, at) FILTER_ROW(s, 0, at) FILTER_ROW(s, 1, at) FILTER_ROW(s, 2, at) FILTER_ROW(s, 3, at)
#define PLACE_OF(b) ((b) * depth)
#else
#define FILTER(s, at) LOAD_FILTERS(s, 4 * block, at)
#ifdef WINOGRAD
#define PLACE_OF(b) (Z * out_blocks + (b))
#else
#define PLACE_OF(b) (b)
#endif
#endif

#ifdef WINOGRAD
#define READ(p) const real4 x##p = LOAD(0, x, at##p, line0 + block);
#define WRITE(s, p, b) FINISH(s##p, b, col##p, PLACE_OF(b))
#else
#define READ(p) const real4 x##p = LOAD(0, x, at##p + block * width, row##p);
#define WRITE(s, p, b) FINISH(s##p, b, (b) * out_width + col##p, line##p)
#endif
#define KEEP_A(p) if (lives##p) { WRITE(a, p, Y * BLOCKS) }
#define KEEP_B(p) if (lives##p) { WRITE(b, p, Y * BLOCKS + 1) }

#if defined(BATCHED) || defined(WINOGRAD)
#define NEXT(p, before)                              \
  const int col##p = col##before + work_x, line##p = Z; \
  const bool lives##p = col##p < out_width;          \
  const int at##p = lives##p ? col##p : 0, row##p = row0;
#else
#define NEXT(p, before)                                              \
  int col##p = col##before + step_col, line##p = line##before + step_line; \
  if (col##p >= out_width) { col##p -= out_width; ++line##p; }       \
  const bool lives##p = line##p < lines;                             \
  const int at##p = lives##p ? COLUMN(col##p) : 0, row##p = lives##p ? ROW(line##p) : 0;
#endif
#if STRIDED
#define COLUMN(c) ((c) * stride_x)
#define ROW(l) ((l) / out_height * height + (l) % out_height * stride_y)
#else
#define COLUMN(c) (c)
#define ROW(l) (l)
#endif

__kernel void product(WORK, IN(0, x), IN(1, filter), OUT(2, y) ADDED_ARGUMENTS, const int blocks, const int width,
                      const int channels, const int out_blocks, const int out_width
#if defined(BATCHED)
                      ,
                      const int depth, const int x_repeats, const int x_lines, const int filter_repeats,
                      const int filter_lines
#elif !defined(WINOGRAD)
                      ,
                      const int lines, const int step_col, const int step_line, const int stride_y,
                      const int stride_x, const int height, const int out_height
#endif
                      LAST_ARGUMENTS) {
  BEGIN
#if defined(BATCHED)
  const int col0 = X, line0 = Z, at0 = X, row0 = Z / x_repeats % x_lines;
  const int filter_line = Z / filter_repeats % filter_lines;
  const bool lives0 = true;
#elif defined(WINOGRAD)
  const int col0 = X, line0 = Z * blocks, at0 = X, row0 = 0;
  const bool lives0 = true;
#else
  const int col0 = X % out_width, line0 = X / out_width, at0 = COLUMN(col0), row0 = ROW(line0);
  const bool lives0 = true;
#endif
  NEXT(1, 0) NEXT(2, 1) NEXT(3, 2)
  const int filter_a = PLACE_OF(Y * BLOCKS);
#if BLOCKS == 2
  const int filter_b = PLACE_OF(Y * 2 + 1);
#endif
  SUMS
  for (int block = 0; block < blocks; ++block) {
    READ(0) READ(1) READ(2) READ(3)
    FILTER(a, filter_a)
#if BLOCKS == 2
    FILTER(b, filter_b)
#endif
    TILE(MULTIPLY)
    COUNT_TERMS
  }
  FLUSH
  KEEP_A(0) KEEP_A(1) KEEP_A(2) KEEP_A(3)
#if BLOCKS == 2
  KEEP_B(0) KEEP_B(1) KEEP_B(2) KEEP_B(3)
#endif
}
