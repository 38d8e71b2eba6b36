// Four inputs behind each other along the channels, from block `base` of y on. `start`: where an input begins in y.
#include "run.cl"
#ifdef HALF_MATH
#define BITS(x) as_short4(x)
#define FROM_BITS(x) as_half4(x)
#else
#define BITS(x) as_int4(x)
#define FROM_BITS(x) as_float4(x)
#endif
// What is no channel of an input is zero, so all that is there can be put together.
#define PART(n, name, start, count)                                                               \
  {                                                                                               \
    const int from = first - start, block = from >> 2, shift = from & 3;                          \
    if (from > -4 && from < count) {                                                              \
      real4 low = 0, high = 0;                                                                    \
      if (from >= 0) low = LOAD(n, name, block * work_x + X, Y);                                  \
      if (shift != 0 && block * 4 + 4 < count) high = LOAD(n, name, (block + 1) * work_x + X, Y); \
      bits |= BITS(run_of_four(low, high, shift));                                                \
    }                                                                                             \
  }

__kernel void join(WORK, IN(0, p), IN(1, q), IN(2, r), IN(3, s), OUT(4, y), const int base, const int channels,
                   const int start_p, const int start_q, const int start_r, const int start_s, const int count_p,
                   const int count_q, const int count_r, const int count_s) {
  BEGIN
  const int first = (base + Z) * 4;
#ifdef HALF_MATH
  short4 bits = 0;
#else
  int4 bits = 0;
#endif
  PART(0, p, start_p, count_p)
  PART(1, q, start_q, count_q)
  PART(2, r, start_r, count_r)
  PART(3, s, start_s, count_s)
  STORE(4, y, (base + Z) * work_x + X, Y, channels - first, FROM_BITS(bits));
}

// One input at its place in y: from `column0` on, and from `row0` on of each `y_rows` rows, where x has `x_rows`.
__kernel void place(WORK, IN(0, x), OUT(1, y), const int channels, const int y_columns, const int column0,
                    const int x_rows, const int y_rows, const int row0) {
  BEGIN
  STORE(1, y, Z * y_columns + column0 + X, Y / x_rows * y_rows + row0 + Y % x_rows, channels - Z * 4,
        LOAD(0, x, Z * work_x + X, Y));
}
