// Pixels times a matrix, on tiles of four pixels that lie far apart, so that neighbours read neighbours.
//
//   plain       the pixels of all lines in a row; the filter's pixels are (input channel, block of outputs)
//   BATCHED     line by line, with a matrix each: a tensor whose pixels are (block of outputs * depth + row, line)
//   WINOGRAD    the same with pixels (tile, part * blocks + block) and a filter (input channel, part * blocks + block)
//
// SPLIT, of the plain one with single blocks of outputs: where that makes too few items to hide how long reads take,
// four share the input channels of a tile, and then each finishes one of its pixels. Groups are 8 x 2 x 4.
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
#ifdef SPLIT
  __local float4 parts[16 * 16];
  const int X = get_global_id(0), Y = get_global_id(1), part = get_local_id(2);
#else
  BEGIN
#endif
#if defined(BATCHED)
  const int col0 = X, line0 = Z, at0 = X, row0 = Z / x_repeats % x_lines;
  const int filter_line = Z / filter_repeats % filter_lines;
  const bool lives0 = true;
#elif defined(WINOGRAD)
  const int col0 = X, line0 = Z * blocks, at0 = X, row0 = 0;
  const bool lives0 = true;
#else
  const int col0 = X % out_width, line0 = X / out_width;
  const bool lives0 = line0 < lines;
  const int at0 = lives0 ? COLUMN(col0) : 0, row0 = lives0 ? ROW(line0) : 0;
#endif
  NEXT(1, 0) NEXT(2, 1) NEXT(3, 2)
#ifdef SPLIT
  const int filter_a = min(Y, out_blocks - 1);
#else
  const int filter_a = PLACE_OF(Y * BLOCKS);
#endif
#if BLOCKS == 2
  const int filter_b = PLACE_OF(Y * 2 + 1);
#endif
  SUMS
#ifdef SPLIT
  for (int block = part; block < blocks; block += 4) {
#else
  for (int block = 0; block < blocks; ++block) {
#endif
    READ(0) READ(1) READ(2) READ(3)
    FILTER(a, filter_a)
#if BLOCKS == 2
    FILTER(b, filter_b)
#endif
    TILE(MULTIPLY)
    COUNT_TERMS
  }
  FLUSH
#ifdef SPLIT
  __local float4 *own = parts + get_local_id(1) * 8 + get_local_id(0);
  own[64 * part] = a0;
  own[64 * part + 16] = a1;
  own[64 * part + 32] = a2;
  own[64 * part + 48] = a3;
  barrier(CLK_LOCAL_MEM_FENCE);
  own += 16 * part;
  const int col = part == 0 ? col0 : part == 1 ? col1 : part == 2 ? col2 : col3;
  const int line = part == 0 ? line0 : part == 1 ? line1 : part == 2 ? line2 : line3;
  if (line < lines && Y < out_blocks) {
    FINISH((own[0] + own[64] + own[128] + own[192]), Y, Y * out_width + col, line)
  }
#else
  KEEP_A(0) KEEP_A(1) KEEP_A(2) KEEP_A(3)
#endif
#if BLOCKS == 2
  KEEP_B(0) KEEP_B(1) KEEP_B(2) KEEP_B(3)
#endif
}
