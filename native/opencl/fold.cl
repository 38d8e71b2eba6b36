// A border around x. MODE: 0 filled, 1 mirrored, 2 its outermost elements, 3 x once more. The rows of x and y are four
// axes, which count as digits do. `x0` ...: sizes of those of x; `y1` ...: those of y; `before0` ...: of the border.
int folded(int i, int size) {
#if MODE == 0
  return i < size ? i : -1;
#elif MODE == 1
  i = i < 0 ? -i : i;
  return i < size ? i : 2 * (size - 1) - i;
#elif MODE == 2
  return clamp(i, 0, size - 1);
#else
  i %= size;
  return i < 0 ? i + size : i;
#endif
}
#if MODE == 0
#define FILL fill
#endif
#define PARAMETERS                                                                                         \
  , const int y1, const int y2, const int y3, const int x0, const int x1, const int x2, const int x3,      \
      const int before0, const int before1, const int before2, const int before3, const int before_column, \
      const int before_channel, const int x_channels, const float fill
#define SOURCE                                                                                          \
  const int a = folded(row / y3 / y2 / y1 - before0, x0), b = folded(row / y3 / y2 % y1 - before1, x1); \
  const int c = folded(row / y3 % y2 - before2, x2), d = folded(row % y3 - before3, x3);                \
  column = folded(column - before_column, x_columns);                                                   \
  channel = folded(channel - before_channel, x_channels);                                               \
  row = ((a * x1 + b) * x2 + c) * x3 + d;                                                               \
  if ((a | b | c | d | column) < 0) channel = -1;
#include "movement.cl"
