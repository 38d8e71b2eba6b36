// FINISH(x, sum), where x is without the largest element of its series, and `sum` that of exp(x). Pixel i of series
// X, Y is i * step_x columns and i * step_y rows behind its first one.
#include "series.cl"
SHARED(series_largest, fmax)
#define LARGEST_OF_SERIES(value) OF_SERIES(series_largest, value)
#if LANES
#define VALUE(px, py) \
  select((float4)(-INFINITY), TO_FLOAT4(LOAD(0, x, px, py)), (int4)(0, 1, 2, 3) + px / columns * 4 < channels)
#else
#define VALUE(px, py) TO_FLOAT4(LOAD(0, x, px, py))
#endif
#define EACH for (int i = item, px = start + i * step_x, py = row + i * step_y; i < size; \
                  i += GROUP, px += GROUP * step_x, py += GROUP * step_y)

__kernel void softmax(WORK, IN(0, x), OUT(1, y), const int columns, const int channels, const int size,
                      const int start_step, const int step_x, const int step_y, const int inner) {
  BEGIN_SERIES
  const int start = X * start_step, row = step_y == 0 ? Y : Y / inner * size * inner + Y % inner;
  float4 largest = -INFINITY;
  EACH largest = fmax(largest, VALUE(px, py));
  largest = LARGEST_OF_SERIES(largest);
  float4 sum = 0;
  EACH sum += exp(VALUE(px, py) - largest);
  sum = SUM_OF_SERIES(sum);
  EACH {
    const float4 shifted = VALUE(px, py) - largest;
    STORE(1, y, px, py, channels - px / columns * 4, TO_REAL4(FINISH(shifted, sum)));
  }
}
